"""Which process writes a run. The operating system's lock decides, and is free when its owner dies."""

import fcntl
import os
import time
from pathlib import Path

FILE = "run.lock"
PATIENCE = 0.5
"""Seconds in which one who only looks has let go again."""
PAUSE = 0.02


def acquire(folder: Path) -> int | None:
    """Take the lock and return its descriptor, None where another process has it. Errors: `OSError`."""
    descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    until = time.monotonic() + PATIENCE
    while not _locked(descriptor, fcntl.LOCK_EX):
        if time.monotonic() >= until:
            os.close(descriptor)
            return None
        time.sleep(PAUSE)
    return descriptor


def release(descriptor: int) -> None:
    os.close(descriptor)


def is_held(folder: Path) -> bool:
    """Tell whether a process writes the run now."""
    try:
        descriptor = os.open(folder / FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
