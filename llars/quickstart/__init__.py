"""Everything with one command: ``python -m llars.quickstart``. It starts, shows and stops all parts."""
