"""Every write of the judge. Views, tasks and commands call one function here; nothing else changes rows."""
