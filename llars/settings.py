"""Django settings. Every value that differs between machines comes from llars.env."""

import dj_database_url
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from llars.env import ROOT, environment
from llars.logs import logging_config

ENV = environment()
BASE_DIR = ROOT

SECRET_KEY = ENV.secret_key.get_secret_value()
DEBUG = ENV.debug
ALLOWED_HOSTS = list(ENV.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENV.trusted_origins)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "axes",
    "csp",
    "pillars",
    "judge",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "llars.middleware.NoStoreMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "llars.urls"
ASGI_APPLICATION = "llars.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# Database ----------------------------------------------------------------------------------------------------------

DATABASES = {"default": dj_database_url.parse(ENV.database_url or f"sqlite:///{ENV.data_dir / 'llars.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE takes the write lock at BEGIN: no "database is locked" from a read that turns into a write.
    # synchronous=FULL: a verdict that was paid for survives a power cut.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 600
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # The claim takes longer to plan than to run: a statement's plan is kept from its fifth time on, per connection.
    DATABASES["default"]["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 5}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People ------------------------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "judge:overview"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_ENABLE_ADMIN = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.https
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if ENV.https else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.https else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
# An import of several thousand threads is a few megabytes; uploads are read from disk above this size.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024

# Language ----------------------------------------------------------------------------------------------------------

LANGUAGE_CODE = "de"
LANGUAGES = [("de", _("German")), ("en", _("English"))]
LOCALE_PATHS = [ROOT / "locale"]
USE_TZ = True
TIME_ZONE = "Europe/Berlin"

# Static files ------------------------------------------------------------------------------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = ENV.data_dir / "static"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Queue and events --------------------------------------------------------------------------------------------------

REDIS_URL = ENV.redis_url
CELERY_BROKER_URL = ENV.redis_url.replace("unix://", "redis+socket://", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 1,
    "socket_keepalive": True,
    # Of the sender: without these, each message to a dead Redis would hold its request for six seconds.
    "connect_retries_timeout": 0.5,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False  # a lost wake-up costs seconds (recovery), a blocked "Start" costs patience
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = 16
CELERY_DB_REUSE_MAX = 1_000_000_000  # llars.celery closes connections when they are old or broken
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "recover": {"task": "judge.recover", "schedule": ENV.recovery_seconds, "options": {"expires": 7200}},
}

JUDGE_LEASE_SECONDS = ENV.lease_seconds
JUDGE_HEARTBEAT_SECONDS = ENV.heartbeat_seconds
JUDGE_PROBE_SECONDS = ENV.probe_seconds
JUDGE_CONFIRM_ABOVE = ENV.confirm_above
JUDGE_MAX_COMPARISONS = ENV.max_comparisons
JUDGE_FIELD_KEYS = tuple(key.get_secret_value() for key in ENV.field_keys)
JUDGE_LOCAL_LLM_HOSTS = ENV.allowed_llm_hosts

# API ---------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "knox.auth.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "judge.api.pagination.Pages",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "judge.api.errors.handle",
    "PAGE_SIZE": 50,
}
REST_KNOX = {"TOKEN_TTL": None, "TOKEN_LIMIT_PER_USER": 20}
SPECTACULAR_SETTINGS = {
    "TITLE": "LLARS Judge",
    "DESCRIPTION": "Pairwise judging of counselling e-mail threads by language models.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

# Operation ---------------------------------------------------------------------------------------------------------

LOGGING = logging_config(ENV.log_level, ENV.log_format)
METRICS_TOKEN = ENV.metrics_token.get_secret_value()
METRICS_HOST = ENV.metrics_host
METRICS_PORT = ENV.metrics_port
