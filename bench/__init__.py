"""Benchmarks: ratios inside one run, beside bare clients on the same machine at the same time. No test is timed."""
