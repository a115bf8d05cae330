"""The API's description as a page, from local files only."""

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.views import SpectacularSwaggerSplitView, _get_sidecar_url

# Swagger UI styles its elements inline; scripts stay as strict as everywhere.
RELAXED = {"style-src": [SELF, UNSAFE_INLINE], "img-src": [SELF, "data:"]}


@method_decorator(csp_update(RELAXED), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI out of the sidecar package's static files, whatever the settings say: nothing is loaded from afar."""

    @staticmethod
    def _swagger_ui_resource(filename: str) -> str:
        return _get_sidecar_url(f"swagger-ui-dist/{filename}")

    @staticmethod
    def _swagger_ui_favicon() -> str:
        return _get_sidecar_url("swagger-ui-dist/favicon-32x32.png")
