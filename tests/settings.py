"""Settings of the tests: the product's own, with an environment that needs nothing from outside.

``python -m tests`` sets LLARS_DATABASE_URL and LLARS_REDIS_URL to servers it started; a bare ``pytest`` uses SQLite.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "LLARS_DATA_DIR" not in os.environ:
    os.environ["LLARS_DATA_DIR"] = tempfile.mkdtemp(prefix="llars-tests-")
    atexit.register(shutil.rmtree, os.environ["LLARS_DATA_DIR"], ignore_errors=True)
_scratch = Path(os.environ["LLARS_DATA_DIR"])
os.environ.setdefault("LLARS_SECRET_KEY", "only-for-tests-" + "x" * 40)
os.environ.setdefault("LLARS_FIELD_KEYS", "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktdGVzdCE=")
os.environ.setdefault("LLARS_DATABASE_URL", f"sqlite:///{_scratch / 'tests.sqlite3'}")
os.environ.setdefault("LLARS_ALLOWED_HOSTS", "localhost,127.0.0.1,testserver")
os.environ.setdefault("LLARS_LOCAL_LLM_HOSTS", "127.0.0.1")
os.environ.setdefault("LLARS_LOG_LEVEL", "WARNING")

if _servers := os.environ.get("LLARS_TEST_REDIS_URLS"):
    _number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.environ["LLARS_REDIS_URL"] = _servers.split(",")[_number]

from llars.settings import *  # noqa: E402, F403

(_scratch / "static").mkdir(parents=True, exist_ok=True)
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # Threads of the queue tests each have a connection of their own: a file, not memory.
    DATABASES["default"]["TEST"] = {"NAME": str(_scratch / "test.sqlite3")}  # noqa: F405
