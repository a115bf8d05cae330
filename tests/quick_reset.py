"""Resetting the database between tests that commit, without Django's flush and reload.

Django empties every table and loads the defaults of the migrations again, row by row: most of a second for a test that
takes a tenth. Here the rows that a test added are deleted; only if it changed or removed a default is everything loaded
again.
"""

from typing import Any

from django.db import DatabaseError, connection
from django.test import TransactionTestCase

Rows = dict[Any, tuple[Any, ...]]

_setup = TransactionTestCase.__dict__["_fixture_setup"].__func__
_teardown = TransactionTestCase._fixture_teardown


class Defaults:
    """The rows that migrations made, by table and primary key (every table's first column), once they were read."""

    rows: dict[str, Rows] = {}
    other_tables: list[str] = []
    are_in_place = False


def install() -> None:
    """Let all tests that commit and ask for the defaults use it."""
    TransactionTestCase._fixture_setup = classmethod(_quick_setup)  # type: ignore[method-assign,assignment]
    TransactionTestCase._fixture_teardown = _quick_teardown  # type: ignore[method-assign]


def _quick_setup(cls: type[TransactionTestCase]) -> None:
    if cls.serialized_rollback and Defaults.are_in_place:
        return
    _setup(cls)
    if cls.serialized_rollback and not Defaults.rows:
        found = {table: _rows(table) for table in connection.introspection.django_table_names(only_existing=True)}
        Defaults.rows = {table: rows for table, rows in found.items() if rows}
        Defaults.other_tables = sorted(found.keys() - Defaults.rows.keys())


def _quick_teardown(self: TransactionTestCase) -> None:
    Defaults.are_in_place = bool(self.serialized_rollback and Defaults.rows) and _remove_additions()
    if not Defaults.are_in_place:
        _teardown(self)


def _remove_additions() -> bool:
    """Delete what is not a default; whether the defaults are as they were."""
    statements = [f"DELETE FROM {_quoted(table)}" for table in Defaults.other_tables]  # noqa: S608
    for table, defaults in Defaults.rows.items():
        found = _rows(table)
        if any(found.get(key) != row for key, row in defaults.items()):
            return False
        if added := ", ".join(str(key) for key in found.keys() - defaults.keys() if isinstance(key, int)):
            statements.append(f"DELETE FROM {_quoted(table)} WHERE id IN ({added})")  # noqa: S608
    try:
        _run(statements)
    except DatabaseError:
        connection.close()
        return False
    return True


def _quoted(table: str) -> str:
    return connection.ops.quote_name(table)


def _rows(table: str) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {_quoted(table)}")  # noqa: S608
        return {row[0]: tuple(map(repr, row)) for row in cursor.fetchall()}


def _run(statements: list[str]) -> None:
    """Foreign keys are not looked at meanwhile: everything that refers to a row goes with it."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            body = "; ".join(["SET LOCAL session_replication_role = replica", *statements])
            cursor.execute(f"DO $reset$ BEGIN {body}; END $reset$")
            return
        cursor.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("PRAGMA foreign_keys = ON")
