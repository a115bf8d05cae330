"""TCP ports on this machine."""

import socket


class PortBusy(Exception):
    """The port that was asked for is in use. The text names it and the variable to change."""


class HostUnusable(Exception):
    """The host that was asked for is no address of this machine. The text names it and the variable to change."""


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError):
            return False
        return True


def any_free(host: str = "127.0.0.1") -> int:
    """A port that was free a moment ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def choose(wanted: int, explicit: bool, host: str = "127.0.0.1", tries: int = 50) -> int:
    """Return the wanted port, or, when nobody asked for it by name, the next free one after it.

    Raises:
        HostUnusable: no server could listen at this host, whatever the port.
        PortBusy: it was asked for and is in use, or none of the next ports is free.
    """
    if not is_free(0, host):
        raise HostUnusable(f"'{host}' is no address of this machine to listen at. Set LLARS_HOST to another one.")
    if explicit and not is_free(wanted, host):
        raise PortBusy(f"Port {wanted} on {host} is in use. Set LLARS_PORT to another one, or stop what listens there.")
    for port in range(wanted, min(wanted + tries, 65536)):
        if is_free(port, host):
            return port
    raise PortBusy(f"No port from {wanted} to {wanted + tries - 1} is free on {host}. Set LLARS_PORT.")
