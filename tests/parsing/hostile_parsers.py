"""Parsers that misbehave, for a pool that is given them by name."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time

from refdesk.parsing import FileInfo, Parsed

kept: list[bytes] = []


def sleep(data: bytes, info: FileInfo) -> Parsed:
    time.sleep(600)
    return Parsed(text="late")


def leave(data: bytes, info: FileInfo) -> Parsed:
    os._exit(7)


def segfault(data: bytes, info: FileInfo) -> Parsed:
    os.kill(os.getpid(), signal.SIGSEGV)
    return Parsed(text="alive")


def allocate(data: bytes, info: FileInfo) -> Parsed:
    while True:
        kept.append(bytes(16 * 1024 * 1024))


def hoard(data: bytes, info: FileInfo) -> Parsed:
    kept.append(b"x" * (160 * 1024 * 1024))
    return Parsed(text=str(os.getpid()))


def connect(data: bytes, info: FileInfo) -> Parsed:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
    return Parsed(text="connected")


def start_program(data: bytes, info: FileInfo) -> Parsed:
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return Parsed(text="started")


def chatter(data: bytes, info: FileInfo) -> Parsed:
    sys.stdout.write("x" * 100_000)
    sys.stdout.flush()
    os.write(1, b"y" * 1000)
    return Parsed(text=str(os.getpid()))


def verbose(data: bytes, info: FileInfo) -> Parsed:
    return Parsed(text="x" * 2000)


def forge(data: bytes, info: FileInfo) -> Parsed:
    """Write the document, which is hexadecimal, into the pipe of the replies, as a hostile one could."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
                os.write(descriptor, bytes.fromhex(data.decode()))
    time.sleep(600)
    return Parsed(text="late")
