"""The five pillars every installation begins with."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

PILLARS = [
    (1, "Role plays", "Rollenspiele", "red"),
    (2, "Feature from pillar 1", "Feature aus Säule 1", "orange"),
    (3, "Anonymised data", "Anonymisierte Daten", "green"),
    (4, "Synthetic", "Synthetisch generiert", "blue"),
    (5, "Live tests", "Live-Testungen", "purple"),
]


def create_default_pillars(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the pillars whose number is free."""
    pillar = apps.get_model("pillars", "Pillar")
    for number, name, name_de, color in PILLARS:
        pillar.objects.get_or_create(number=number, defaults={"name": name, "name_de": name_de, "color": color})


class Migration(migrations.Migration):
    dependencies = [("pillars", "0001_initial")]

    # Backwards nothing is deleted: a pillar may hold threads by then.
    operations = [migrations.RunPython(create_default_pillars, migrations.RunPython.noop)]
