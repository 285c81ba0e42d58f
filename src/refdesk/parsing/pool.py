"""Parser processes, started when needed and used again; one document at a time in each."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeVar

import anyio
from anyio import to_thread

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed, ParseLimits
from refdesk.parsing.formats import PARSERS
from refdesk.parsing.wire import Reply, parse_reply, read_frame, request_head, write_frame

START_SECONDS = 60.0
DOCUMENTS_PER_WORKER = 5000

Result = TypeVar("Result")


class ParserPool:
    """Turn bytes into text in worker processes with limits.

    `workers` bounds how many documents are read at once. `parsers` maps format names to
    `module:function`, by default all of `refdesk.parsing.formats`. A process has `start_seconds` to start.
    """

    def __init__(
        self,
        *,
        limits: ParseLimits | None = None,
        workers: int | None = None,
        parsers: Mapping[str, str] = PARSERS,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self.limits = limits or ParseLimits()
        self._start_seconds = start_seconds
        self._parsers = dict(parsers)
        self._turns = anyio.Semaphore(workers or min(4, os.cpu_count() or 1))
        self._idle: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._idle)

    async def parse(self, data: bytes, info: FileInfo) -> Parsed:
        """Return the text of a document. Errors: `ParseError`, whose `reason` says why there is none."""
        if len(data) > self.limits.size:
            raise _too_large(data, info, self.limits)
        async with self._turns:
            worker = self._idle.pop() if self._idle else _start(self._parsers)
            try:
                if not worker.documents:
                    await self._wait_until_ready(worker)
                reply = await self._ask(worker, data, info)
            except BaseException:
                worker.stop()
                raise
            self._keep(worker, reply)
        if isinstance(reply.outcome, ParseError):
            raise reply.outcome
        return reply.outcome

    async def aclose(self) -> None:
        """Stop all workers. The pool may be used again; it then starts new ones."""
        while self._idle:
            self._idle.pop().stop()

    async def _wait_until_ready(self, worker: "_Worker") -> None:
        """Wait for the imports of a new process, so that they do not count as time of its first document."""
        seconds = self._start_seconds
        try:
            await _within(seconds, worker, worker.receive)
        except TimeoutError as error:
            message = f"The parser process took longer than {seconds:g} s to start."
            raise ParseError(message, reason="timeout") from error
        except _Broken as error:
            raise ParseError(f"The parser process did not start: {error}.", reason="crashed") from error

    async def _ask(self, worker: "_Worker", data: bytes, info: FileInfo) -> Reply:
        head, seconds = request_head(info, self.limits), self.limits.seconds
        try:
            return await _within(seconds, worker, lambda: parse_reply(*worker.ask(head, data)))
        except TimeoutError as error:
            message = f"{info.name!r} took longer than {seconds:g} s to read."
            raise ParseError(message, reason="timeout") from error
        except _Broken as error:
            message = f"{info.name!r} ended the parser process: {error}."
            raise ParseError(message, reason="crashed") from error

    def _keep(self, worker: "_Worker", reply: Reply) -> None:
        """Use the worker again unless it holds much memory or has run out of it."""
        out = isinstance(reply.outcome, ParseError) and reply.outcome.reason == "memory"
        if out or reply.memory > self.limits.memory // 2 or worker.documents >= DOCUMENTS_PER_WORKER:
            worker.stop()
        else:
            self._idle.append(worker)


class _Broken(Exception):
    """A worker is gone or no longer makes sense; the text says how."""


class _Worker:
    """One process and its pipes. Its methods block."""

    def __init__(self, parsers: Mapping[str, str]) -> None:
        self.documents = 0
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `stop`)
        try:
            self._process = _spawn(parsers, self._errors)
        except BaseException:
            self._errors.close()
            raise
        assert self._process.stdin, "a pipe was asked for"
        assert self._process.stdout, "a pipe was asked for"
        self._requests, self._replies = self._process.stdin, self._process.stdout

    def ask(self, head: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        self.documents += 1
        write_frame(self._requests, head, data)
        return self.receive()

    def receive(self) -> tuple[dict[str, Any], bytes]:
        return read_frame(self._replies)

    def stop(self) -> None:
        """Kill the process and free what it held."""
        self._process.kill()
        self._process.wait()
        for stream in (self._requests, self._replies, self._errors):
            # Flushing what the dead process did not read fails; the descriptor is closed all the same.
            with contextlib.suppress(OSError):
                stream.close()

    def last_words(self) -> str:
        """Say how a process ended that closed its pipe."""
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed its pipe"
        self._errors.seek(0)
        printed = self._errors.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        ending = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{ending}, {printed[-1]}" if printed else ending


def _spawn(parsers: Mapping[str, str], errors: IO[bytes]) -> "subprocess.Popen[bytes]":
    # -P and the path: the worker imports what this process would, and nothing from the working folder.
    # A session of its own: Ctrl-C in the terminal reaches only the parent.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "refdesk.parsing.worker", json.dumps(dict(parsers))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )


async def _within(seconds: float, worker: _Worker, call: Callable[[], Result]) -> Result:
    """Run what waits for a worker in a thread. Errors: `TimeoutError`, `_Broken`."""
    try:
        with anyio.fail_after(seconds):
            return await to_thread.run_sync(call, abandon_on_cancel=True)
    except TimeoutError:
        raise  # an OSError too, and no sign of an end
    except (EOFError, OSError) as error:
        raise _Broken(await to_thread.run_sync(worker.last_words)) from error
    except (ValueError, MemoryError) as error:
        raise _Broken(f"it answered with what is no reply: {error}"[:200]) from error


def _start(parsers: Mapping[str, str]) -> _Worker:
    try:
        return _Worker(parsers)
    except OSError as error:
        raise ParseError(f"The parser process cannot be started: {error}.", reason="crashed") from error


def _stop_all(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.stop()


def _too_large(data: bytes, info: FileInfo, limits: ParseLimits) -> ParseError:
    message = f"{info.name!r} has {len(data):,} bytes, more than {limits.size:,}."
    return ParseError(message, reason="too_large", remedy="Split the document, or raise the limit.")
