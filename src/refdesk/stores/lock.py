"""One writer at a time across processes.

The operating system's lock on `write.lock` decides, and frees itself when its owner dies. A record beside it
says who owns it; it only informs, so that nothing is ever taken from a writer that is slow or paused.
"""

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio import to_thread

from refdesk.errors import StoreError, StoreLocked

FILE = "write.lock"
OWNER = "write.owner.json"
LEASE_SECONDS = 30.0
RENEW_SECONDS = 10.0
ASK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds the lock; times are seconds since 1970. A lease that ran out means a paused process."""

    pid: int
    host: str
    since: float
    expires: float

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC).isoformat(timespec="seconds")
        late = time.time() - self.expires
        state = f"; it has given no sign of life for {late + LEASE_SECONDS:.0f} s" if late > 0 else ""
        return f"process {self.pid} on {self.host}, since {since}{state}"


@asynccontextmanager
async def held(folder: Path, *, wait: float) -> AsyncIterator[None]:
    """Hold the write lock of a library. Errors: `StoreLocked` when it is not free within `wait` seconds."""
    descriptor = await _acquire(folder, wait)
    stop, since = threading.Event(), time.time()
    renewing = threading.Thread(
        target=_renew, args=(folder, since, stop), name="refdesk-write-lock", daemon=True
    )
    try:
        _record(folder, since)
        renewing.start()
        yield
    finally:
        stop.set()
        if renewing.ident:
            renewing.join()
        (folder / OWNER).unlink(missing_ok=True)
        os.close(descriptor)


async def _acquire(folder: Path, wait: float) -> int:
    until = time.monotonic() + wait
    descriptor = await to_thread.run_sync(_open, folder)
    try:
        while not _try(descriptor):
            if time.monotonic() >= until:
                raise _locked(folder, wait)
            await anyio.sleep(ASK_SECONDS)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _open(folder: Path) -> int:
    try:
        return os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StoreError(
            f"Cannot write in the library {str(folder)!r}: {error}.", remedy="Check the folder's permissions."
        ) from error


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _locked(folder: Path, wait: float) -> StoreLocked:
    owner = read_owner(folder)
    who = str(owner) if owner else "another process"
    stop = f"stop process {owner.pid}" if owner else "stop that process"
    return StoreLocked(
        f"Cannot write in the library {str(folder)!r}: {who}, is writing; waited {wait:g} s.",
        remedy=f"Wait until it is done, or {stop}; the lock frees itself when it ends.",
    )


def read_owner(folder: Path) -> Owner | None:
    """Return who says to hold the lock, or None where nobody does."""
    try:
        return Owner(**json.loads((folder / OWNER).read_text("utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _record(folder: Path, since: float) -> None:
    owner = Owner(os.getpid(), socket.gethostname(), since, time.time() + LEASE_SECONDS)
    fresh = folder / f"{OWNER}.new"
    with suppress(OSError):  # it only informs; what fails on a full disk is the write, with its own error
        fresh.write_text(json.dumps(asdict(owner)), "utf-8")
        fresh.replace(folder / OWNER)


def _renew(folder: Path, since: float, stop: threading.Event) -> None:
    while not stop.wait(RENEW_SECONDS):
        _record(folder, since)
