"""Statistics of verdicts: pure functions, plain data in, frozen dataclasses out. Formulas: docs/statistics.md."""
