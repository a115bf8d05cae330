"""The shape of a session's health."""

from typing import Any

from rest_framework import serializers


class HeldSerializer(serializers.Serializer[Any]):
    """A comparison that a lane holds."""

    worker_id = serializers.IntegerField()
    comparison_id = serializers.IntegerField()
    queue_position = serializers.IntegerField()
    judge_id = serializers.IntegerField(help_text="The session's judge.")
    judge = serializers.CharField(help_text="The model's name.")
    provider_id = serializers.IntegerField()
    provider = serializers.CharField()
    attempt_count = serializers.IntegerField()
    started_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(help_text="For how long the lane has held it.")
    lease_expires_at = serializers.DateTimeField()
    lease_seconds_left = serializers.FloatField(help_text="Negative once the lease ran out.")
    expired = serializers.BooleanField(help_text="The lease ran out; recovery will give the comparison back.")


class CauseSerializer(serializers.Serializer[Any]):
    """Why a session does not go on, or not faster. What does not belong to the code is null or empty."""

    code = serializers.CharField(
        help_text="lease_expired, not_recovered, no_worker, not_taken_yet, plan_expected, plan_missing, broker_away, "
        "provider_cooling, breaker_open, judge_stopped, slots_taken, counters_mismatch, paused, paused_because, "
        "paused_until_back or nothing_judged."
    )
    text = serializers.CharField(help_text="The same as a sentence, in the language of the request.")
    passes_by_itself = serializers.BooleanField(help_text="Nobody need do anything about it.")
    reason = serializers.CharField(allow_blank=True, help_text="The error code behind it.")
    worker_id = serializers.IntegerField(allow_null=True)
    comparison_id = serializers.IntegerField(allow_null=True)
    judge_id = serializers.IntegerField(allow_null=True)
    judge = serializers.CharField(allow_blank=True)
    provider_id = serializers.IntegerField(allow_null=True)
    provider = serializers.CharField(allow_blank=True)
    seconds = serializers.IntegerField(allow_null=True)
    until = serializers.DateTimeField(allow_null=True)
    places = serializers.IntegerField(allow_null=True, help_text="Parallel calls that the provider allows at present.")
    taken_by_others = serializers.IntegerField(allow_null=True, help_text="Those in use by other sessions.")


class HealthSerializer(serializers.Serializer[Any]):
    """Whether a session is doing well."""

    session_id = serializers.IntegerField()
    status = serializers.CharField()
    status_reason = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(
        ("working", "waiting", "stuck", "idle"),
        help_text="waiting: what holds it up passes by itself. stuck: somebody must do something. "
        "idle: not to be judged.",
    )
    comparisons = serializers.DictField(child=serializers.IntegerField(), help_text="Number per status.")
    counters_match = serializers.BooleanField()
    leases = HeldSerializer(many=True, source="running", help_text="What the lanes judge now.")
    causes = CauseSerializer(many=True, help_text="Why it does not go on, or not faster; the gravest first.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.IntegerField(), help_text="Failed comparisons per error code."
    )
