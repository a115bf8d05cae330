"""What every installation begins with: a rubric, a prompt per language, and the group of the researchers."""

import hashlib

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q

from judge.domain.prompt import DEFAULT_PROMPTS
from judge.domain.rubric import DEFAULT_CRITERIA

RUBRIC_NAME = "Standard"
GROUP_NAME = "Researchers"
# Researchers plan, run, share and delete sessions and keep the threads; providers, prompts and rubrics are the staff's.
WRITABLE = {
    "judge": {"judgesession": ("add", "change", "delete"), "sessionshare": ("add", "change", "delete")},
    "pillars": dict.fromkeys(("pillar", "emailthread", "message", "pillarthread", "importbatch"), ("add", "change")),
}


def create_default_rubric(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the six criteria in both languages, unless there is a default rubric already."""
    rubric_model, criterion_model = apps.get_model("judge", "Rubric"), apps.get_model("judge", "Criterion")
    if rubric_model.objects.filter(Q(is_default=True) | Q(name=RUBRIC_NAME)).exists():
        return
    rubric = rubric_model.objects.create(name=RUBRIC_NAME, is_default=True)
    german = {criterion.key: criterion for criterion in DEFAULT_CRITERIA["de"]}
    criterion_model.objects.bulk_create(
        criterion_model(
            rubric=rubric,
            key=english.key,
            position=position,
            label=english.label,
            label_de=german[english.key].label,
            description=english.description,
            description_de=german[english.key].description,
            weight=english.weight,
            scale_min=english.scale_min,
            scale_max=english.scale_max,
        )
        for position, english in enumerate(DEFAULT_CRITERIA["en"])
    )


def create_default_prompts(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create version 1 of the prompt in each language that has none."""
    prompt_model = apps.get_model("judge", "PromptVersion")
    for language, text in DEFAULT_PROMPTS.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        prompt_model.objects.get_or_create(language=language, version=1, defaults={"text": text, "sha256": digest})


def create_researchers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the group with its permissions, which Django otherwise creates only after all migrations."""
    permission_model = apps.get_model("auth", "Permission")
    group, _created = apps.get_model("auth", "Group").objects.get_or_create(name=GROUP_NAME)
    for label, writable in WRITABLE.items():
        app_config = apps.get_app_config(label)
        # The app as it was at this migration has no models module, and without one nothing would be created.
        app_config.models_module = True
        create_permissions(app_config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
        codenames = [f"{verb}_{model}" for model, verbs in writable.items() for verb in verbs]
        wanted = Q(codename__startswith="view_") | Q(codename__in=codenames)
        group.permissions.add(*permission_model.objects.filter(wanted, content_type__app_label=label))


class Migration(migrations.Migration):
    dependencies = [
        ("judge", "0001_initial"),
        ("pillars", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    # Backwards nothing is deleted: sessions and people may depend on it by then.
    operations = [
        migrations.RunPython(create_default_rubric, migrations.RunPython.noop),
        migrations.RunPython(create_default_prompts, migrations.RunPython.noop),
        migrations.RunPython(create_researchers, migrations.RunPython.noop),
    ]
