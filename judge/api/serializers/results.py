"""Results: pillars, matrix, leaderboard, ELO, position swap."""

from typing import Any

from rest_framework import serializers

from judge.api.serializers.common import FiniteFloat


class RateSerializer(serializers.Serializer[Any]):
    """Counts with a rate and its 95 % interval; null where nothing was counted."""

    wins = serializers.IntegerField()
    losses = serializers.IntegerField()
    ties = serializers.IntegerField()
    win_rate = FiniteFloat(allow_null=True)
    low = FiniteFloat(allow_null=True)
    high = FiniteFloat(allow_null=True)


class PillarResultSerializer(RateSerializer):
    """One pillar in the ranking, best first."""

    rank = serializers.IntegerField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    name_de = serializers.CharField(allow_blank=True)
    color = serializers.CharField()
    n = serializers.IntegerField()
    score_rate = FiniteFloat(allow_null=True)
    avg_elo = FiniteFloat(allow_null=True)
    thread_count = serializers.IntegerField()


class MatrixCellSerializer(serializers.Serializer[Any]):
    """One pillar pair; rates are pillar_a's against pillar_b."""

    pillar_a = serializers.IntegerField()
    pillar_b = serializers.IntegerField()
    wins_a = serializers.IntegerField()
    wins_b = serializers.IntegerField()
    ties = serializers.IntegerField()
    conflicts = serializers.IntegerField()
    n = serializers.IntegerField()
    win_rate_a = FiniteFloat(allow_null=True)
    score_rate_a = FiniteFloat(allow_null=True)
    low = FiniteFloat(allow_null=True)
    high = FiniteFloat(allow_null=True)
    clear = serializers.BooleanField(allow_null=True, help_text="false: no clear difference.")


class LeaderboardRowSerializer(RateSerializer):
    """One thread."""

    rank = serializers.IntegerField()
    thread_id = serializers.IntegerField()
    pillar = serializers.IntegerField()
    pillar_name = serializers.CharField(required=False)
    elo_score = FiniteFloat(allow_null=True)
    elo_low = FiniteFloat(allow_null=True)
    elo_high = FiniteFloat(allow_null=True)
    bt_score = FiniteFloat(allow_null=True)
    bt_flag = serializers.CharField(
        allow_null=True, help_text="never_won, never_lost or not_connected: bt_score is regularised; null otherwise"
    )
    bt_low = FiniteFloat(allow_null=True)
    bt_high = FiniteFloat(allow_null=True)
    matches_played = serializers.IntegerField()
    avg_confidence = FiniteFloat(allow_null=True)
    avg_likert_scores = serializers.DictField(child=FiniteFloat(allow_null=True))


class PillarAggregateSerializer(serializers.Serializer[Any]):
    """The rated threads of one pillar together."""

    avg_elo = FiniteFloat(allow_null=True)
    thread_count = serializers.IntegerField()


class LeaderboardSerializer(serializers.Serializer[Any]):
    """All rated threads, best first."""

    leaderboard = LeaderboardRowSerializer(many=True)
    pillar_aggregates = serializers.DictField(child=PillarAggregateSerializer(), help_text="By pillar number.")


class PositionSwapSerializer(serializers.Serializer[Any]):
    """What both orders say together."""

    pairs = serializers.IntegerField()
    consistent_wins = serializers.IntegerField()
    consistent_ties = serializers.IntegerField()
    primacy = serializers.IntegerField()
    recency = serializers.IntegerField()
    mixed = serializers.IntegerField()
    consistency_rate = FiniteFloat(allow_null=True)
    label = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    first_slot_share = FiniteFloat(allow_null=True, help_text="Share of decisive verdicts won by the first slot.")
    dominant_bias = serializers.CharField(allow_null=True)
    p_value = FiniteFloat(allow_null=True, help_text="Sign test of primacy against recency.")
    kappa = FiniteFloat(allow_null=True, help_text="Cohen's kappa between the orders.")


class ResultsSerializer(serializers.Serializer[Any]):
    """The stored results of a session; they lag behind the comparisons by a moment."""

    session_id = serializers.IntegerField()
    status = serializers.CharField()
    evaluations_seen = serializers.IntegerField(help_text="Verdicts that went into these numbers.")
    evaluations_now = serializers.IntegerField(help_text="Verdicts there are.")
    pairs_total = serializers.IntegerField()
    pairs_complete = serializers.IntegerField()
    failed = serializers.IntegerField()
    is_partial = serializers.BooleanField()
    pillars = PillarResultSerializer(many=True)
    matrix = MatrixCellSerializer(many=True)
    leaderboard = LeaderboardRowSerializer(many=True)
    position_swap = PositionSwapSerializer(allow_null=True)


class EloDistributionSerializer(serializers.Serializer[Any]):
    """ELO of one pillar's rated threads, ascending."""

    name = serializers.CharField()
    elo_scores = serializers.ListField(child=FiniteFloat())
    mean = FiniteFloat()
    median = FiniteFloat()
    std_dev = FiniteFloat(help_text="Population standard deviation.")
    min = FiniteFloat()
    max = FiniteFloat()


class EloDistributionsSerializer(serializers.Serializer[Any]):
    """By pillar number."""

    pillars = serializers.DictField(child=EloDistributionSerializer())
