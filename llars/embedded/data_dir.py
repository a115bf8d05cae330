"""The directory that holds everything the embedded run keeps, and the lock that gives it to one run at a time."""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class DataDirBusy(Exception):
    """Another run holds the data directory."""


class DataDirUnusable(Exception):
    """The data directory cannot be made or used. The text names it, the reason and the variable."""


class DataDir:
    """``path`` is absolute, exists and is closed to other users. Entered, it is locked for this process."""

    def __init__(self, path: Path) -> None:
        """Make the directory.

        Raises:
            DataDirUnusable: it cannot be made, or is no directory of this user.
        """
        self.path = path.expanduser().resolve()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.path.chmod(0o700)
        except OSError as error:
            raise DataDirUnusable(
                f"The data directory {self.path} cannot be used ({error.strerror}). Set LLARS_DATA_DIR to another one."
            ) from None
        self._descriptor: int | None = None

    @property
    def logs(self) -> Path:
        """One log file per child."""
        return self.path / "logs"

    def __enter__(self) -> "DataDir":
        """Take the lock. It falls with the process, however that ends.

        Raises:
            DataDirBusy: another process holds it.
        """
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(descriptor, 20).decode(errors="replace").strip()
            os.close(descriptor)
            raise DataDirBusy(
                f"A run with the data in {self.path} is already there (process {holder or 'unknown'}). "
                "Stop it, or set LLARS_DATA_DIR to another directory."
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None
