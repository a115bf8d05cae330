"""The servers and tools the tests need, started and found by ``python -m tests``."""
