"""No deadline per example: on a busy machine a compiled routine may be slow once."""

from hypothesis import settings

settings.register_profile("without_deadline", deadline=None)
settings.load_profile("without_deadline")
