"""Estimates: how large a plan is, how long it takes, what it costs, and how fair it is."""

from typing import Any

from rest_framework import serializers

WARNING_CODES = (
    "provider_not_allowed, large_plan, text_too_long, long_runtime, budget_below_connection, no_position_swap, "
    "repetitions_repeat, pillar_smaller_than_samples, unequal_pillars, low_coverage"
)


class PillarShareSerializer(serializers.Serializer[Any]):
    """A pillar in a plan."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    color = serializers.CharField(source="colour")
    threads = serializers.IntegerField(help_text="All threads of the pillar.")
    taking_part = serializers.IntegerField(help_text="Those that the limit of threads per pillar leaves.")
    used = serializers.IntegerField(help_text="Those that are compared at least once.")
    coverage = serializers.FloatField(help_text="used / threads, 0-1. Of an adaptive plan: what its size promises.")
    goal = serializers.FloatField(help_text="Coverage should be above this.")


class PlanWarningSerializer(serializers.Serializer[Any]):
    """Something to know before the session is started."""

    code = serializers.CharField(help_text=WARNING_CODES)
    text = serializers.CharField(help_text="A sentence for people, in their language.")
    params = serializers.DictField(help_text="The numbers and ids that the code speaks of.")


class EstimateSerializer(serializers.Serializer[Any]):
    """What a plan takes. Counted by the planner, so the numbers of comparisons are exact; what is unknown is null."""

    comparison_mode = serializers.CharField()
    total_threads = serializers.IntegerField(help_text="Threads in the chosen pillars.")
    base_comparisons = serializers.IntegerField(help_text="Without position swap, over all judges.")
    with_position_swap = serializers.IntegerField(help_text="With the swap, if it is configured.")
    total_comparisons = serializers.IntegerField(source="with_position_swap")
    estimated_duration_minutes = serializers.IntegerField(help_text="With the chosen number of workers.")
    with_workers = serializers.DictField(child=serializers.IntegerField(), help_text="Minutes with 1 to 5 workers.")
    seconds_per_comparison = serializers.FloatField(help_text="The judges' median; 10 before they have any history.")
    prompt_tokens = serializers.IntegerField(help_text="From the real length of the threads, over all judges.")
    completion_tokens = serializers.IntegerField(
        allow_null=True, help_text="From the judges' history; null before there is any."
    )
    cost = serializers.DecimalField(
        max_digits=None,
        decimal_places=4,
        allow_null=True,
        help_text="In the unit of the models' prices; null where a price or the answers' length is unknown.",
    )
    pillars = PillarShareSerializer(many=True)
    warnings = PlanWarningSerializer(many=True)
