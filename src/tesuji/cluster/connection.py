"""Ray, and the way to a cluster."""

import contextlib
import importlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from typing import Any

from tesuji.machine import cores

__all__ = ["connected", "ray_module"]

_STORE = 1 << 29  # bytes of the object store where we start Ray ourselves
_CONNECT = 5.0  # seconds to reach an address


def ray_module() -> Any:
    """Ray, with our settings."""
    # Ray reads these when it is imported: nothing is sent home, and a worker without a GPU is nothing to warn of.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise ValueError("a cluster needs the package ray: pip install 'tesuji[cluster]'") from None
    # It prints what it hears of raylets' deaths among our own lines, log_to_driver or not; we say that in our words.
    inside: Any = importlib.import_module("ray._private.worker")
    inside.print_to_stdstream = lambda *words, **more: None
    return ray


@contextlib.contextmanager
def connected(address: str | None = None, *, cpus: float = 0) -> Iterator[Any]:
    """Ray, as long as the block lasts: the cluster at ``address`` ("auto": the one that this machine is a node of), or
    this machine alone, with at least so many CPUs to give away. Where the program is connected already it stays so."""
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    here = threading.current_thread() is threading.main_thread()
    asked_to_end = signal.getsignal(signal.SIGTERM) if here else None
    try:
        if address == "local":
            have = max(cores(), int(-(-cpus // 1)))
            ray.init("local", num_cpus=have, object_store_memory=_STORE, include_dashboard=False, **quiet)
        else:
            _check_address(address)
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError) as trouble:
        reason = str(trouble).strip().splitlines()[0] if str(trouble).strip() else type(trouble).__name__
        raise ValueError(f"Ray does not start at {address}: {reason}") from None
    finally:
        if here:
            signal.signal(signal.SIGTERM, asked_to_end)  # Ray has put its own in the way
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Ray itself would try for minutes."""
    if address == "auto":
        return
    if "://" in address:
        raise ValueError(
            f"{address[:60]!r} is for Ray's client, which is too slow here: give HOST:PORT, on a node of the cluster"
        )
    host, colon, port = address.rpartition(":")
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(
            f"{address[:60]!r} is no address of a Ray cluster: give HOST:PORT, such as 10.0.0.5:6379, or auto"
        )
    # Whatever speaks HTTP/2, as Ray's head does, answers a preface with its settings (frame type 4).
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT) as line:
            line.settimeout(_CONNECT)
            line.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            head = line.recv(9)
    except OSError as trouble:
        reason = trouble.strerror or "no answer"
        raise ValueError(f"no Ray cluster answers at {address} ({reason}): `ray start --head` begins one") from None
    if len(head) < 4 or head[3] != 4:
        raise ValueError(
            f"what answers at {address} is no Ray cluster: give the address that `ray start --head` printed"
        )
