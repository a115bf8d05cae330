"""What staff keep in order: providers, models, rubrics, prompts; sessions are looked at and run, never edited."""

from judge.admin import comparisons, prompts, providers, sessions

__all__ = ["comparisons", "prompts", "providers", "sessions"]
