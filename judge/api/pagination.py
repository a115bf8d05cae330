"""Pages of lists."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """``?page=`` and ``?page_size=`` (at most 200); the answer is {count, next, previous, results}."""

    page_size_query_param = "page_size"
    max_page_size = 200
