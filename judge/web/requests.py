"""What the pages know of a request: it was made by htmx or not, by a person who is logged in."""

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class PageRequest(HttpRequest):
    """A request that went through the project's middleware."""

    htmx: HtmxDetails
    user: User


def person(request: HttpRequest) -> User:
    """Who asks; every page but the login is for people who are logged in."""
    return cast(PageRequest, request).user


def is_swap(request: HttpRequest) -> bool:
    """Whether htmx asks for parts of a page rather than the browser for a page."""
    return bool(cast(PageRequest, request).htmx)
