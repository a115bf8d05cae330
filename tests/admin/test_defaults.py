"""What the data migration brings."""

import pytest
from django.contrib.auth.models import Group

from judge.domain.prompt import DEFAULT_PROMPTS
from judge.domain.rubric import DEFAULT_CRITERIA
from judge.models import PromptVersion, Rubric

pytestmark = pytest.mark.django_db


def test_the_default_rubric_has_the_six_criteria_in_both_languages() -> None:
    rubric = Rubric.objects.get(is_default=True)
    for language, criteria in DEFAULT_CRITERIA.items():
        assert rubric.as_domain(language).criteria == criteria


def test_there_is_version_1_of_the_prompt_in_both_languages() -> None:
    stored = {prompt.language: prompt for prompt in PromptVersion.objects.filter(version=1)}
    assert {language: prompt.text for language, prompt in stored.items()} == dict(DEFAULT_PROMPTS)
    for prompt in stored.values():
        digest = prompt.sha256
        prompt.save()
        assert prompt.sha256 == digest


def test_researchers_may_judge_and_import_but_not_touch_providers_prompts_and_rubrics() -> None:
    held = set(Group.objects.get(name="Researchers").permissions.values_list("content_type__app_label", "codename"))
    assert {("judge", f"{verb}_judgesession") for verb in ("view", "add", "change", "delete")} | {
        ("pillars", f"{verb}_emailthread") for verb in ("view", "add", "change")
    } <= held
    assert ("pillars", "add_pillarthread") in held
    for model in ("llmprovider", "judgemodel", "rubric", "criterion", "promptversion", "judgecomparison"):
        assert ("judge", f"view_{model}") in held
        assert not {("judge", f"{verb}_{model}") for verb in ("add", "change", "delete")} & held
    assert not any(label in ("auth", "admin", "knox") for label, _codename in held)
