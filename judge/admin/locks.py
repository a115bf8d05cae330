"""Admin classes for what must not be changed."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest


def column(name: str, title: Any) -> Any:
    """A field under a title of the admin's own, sortable as the field is."""

    @admin.display(description=title, ordering=name)
    def shown(row: Any) -> Any:
        return getattr(row, name)

    shown.__name__ = name
    return shown


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows to look at."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows come from the services."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is edited by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is deleted one by one."""
        return False


class ReadOnlyInline(admin.TabularInline):
    """Rows to look at, beside their parent."""

    extra = 0
    can_delete = False
    show_change_link = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Rows come from the services."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is edited by hand."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is deleted one by one."""
        return False


class LockedWhenUsedAdmin(admin.ModelAdmin):
    """What a session was judged by stays as it was: afterwards it can only be looked at."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only while no session uses it."""
        return super().has_change_permission(request, obj) and not (obj is not None and obj.is_used)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only while no session uses it."""
        return super().has_delete_permission(request, obj) and not (obj is not None and obj.is_used)
