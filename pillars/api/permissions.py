"""Who may read and write threads through the API."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


class _Holds(BasePermission):
    permission = ""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user and request.user.is_active and request.user.has_perm(self.permission))


class MayReadThreads(_Holds):
    """Thread texts, subjects included, are other people's crises."""

    permission = "pillars.view_emailthread"


class MayImportThreads(_Holds):
    """New threads may be stored."""

    permission = "pillars.add_emailthread"


class MayAssignThreads(_Holds):
    """Threads may be put into pillars."""

    permission = "pillars.add_pillarthread"
