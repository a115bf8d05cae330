"""The chaos run: judge while workers are killed and frozen, the database crashes and Redis forgets everything."""
