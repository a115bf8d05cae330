"""The embedded run: finding a Redis, keeping secrets, starting and stopping child processes. No Django in here."""
