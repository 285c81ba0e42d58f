"""Parser processes, started when needed and used again; one document at a time in each."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from typing import IO, Any

import anyio
from anyio import to_thread

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed, ParseLimits
from refdesk.parsing.formats import PARSERS
from refdesk.parsing.wire import parse_reply, read_frame, request_head, write_frame

START_SECONDS = 60.0
DOCUMENTS_PER_WORKER = 5000


class ParserPool:
    """Turn bytes into text in worker processes with limits.

    `workers` bounds how many documents are read at once. `parsers` maps format names to
    `module:function`, by default all of `refdesk.parsing.formats`.
    """

    def __init__(
        self,
        *,
        limits: ParseLimits | None = None,
        workers: int | None = None,
        parsers: Mapping[str, str] = PARSERS,
    ) -> None:
        self.limits = limits or ParseLimits()
        self._parsers = dict(parsers)
        self._turns = anyio.Semaphore(workers or min(4, os.cpu_count() or 1))
        self._idle: list[_Worker] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._idle)

    async def parse(self, data: bytes, info: FileInfo) -> Parsed:
        """Return the text of a document. Errors: `ParseError`, whose `reason` says why there is none."""
        if len(data) > self.limits.size:
            raise _too_large(data, info, self.limits)
        async with self._turns:
            worker = self._idle.pop() if self._idle else _Worker(self._parsers)
            try:
                if not worker.documents:
                    await _wait_until_ready(worker)
                head, body = await self._ask(worker, data, info)
            except BaseException:
                worker.stop()
                raise
            self._keep(worker, head)
        return parse_reply(head, body)

    async def aclose(self) -> None:
        """Stop all workers. The pool may be used again; it then starts new ones."""
        while self._idle:
            self._idle.pop().stop()

    async def _ask(self, worker: "_Worker", data: bytes, info: FileInfo) -> tuple[dict[str, Any], bytes]:
        head = request_head(info, self.limits)
        try:
            with anyio.fail_after(self.limits.seconds):
                return await to_thread.run_sync(worker.ask, head, data, abandon_on_cancel=True)
        except TimeoutError as error:
            message = f"{info.name!r} took longer than {self.limits.seconds:g} s to read."
            raise ParseError(message, reason="timeout") from error
        except (EOFError, OSError) as error:
            message = f"{info.name!r} ended the parser process: {worker.last_words()}."
            raise ParseError(message, reason="crashed") from error

    def _keep(self, worker: "_Worker", head: dict[str, Any]) -> None:
        """Use the worker again unless it holds much memory or has run out of it."""
        full = head["memory"] > self.limits.memory // 2 or head.get("reason") == "memory"
        if full or worker.documents >= DOCUMENTS_PER_WORKER:
            worker.stop()
        else:
            self._idle.append(worker)


class _Worker:
    """One process and its pipes. Its methods block."""

    def __init__(self, parsers: Mapping[str, str]) -> None:
        self.documents = 0
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `stop`)
        # -P and the path: the worker imports what this process would, and nothing from the working folder.
        # A session of its own: Ctrl-C in the terminal reaches only the parent.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "refdesk.parsing.worker", json.dumps(dict(parsers))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
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


async def _wait_until_ready(worker: _Worker) -> None:
    """Wait for the imports of a new process, so that they do not count as time of its first document."""
    try:
        with anyio.fail_after(START_SECONDS):
            await to_thread.run_sync(worker.receive, abandon_on_cancel=True)
    except (EOFError, OSError) as error:
        message = f"The parser process did not start: {worker.last_words()}."
        raise ParseError(message, reason="crashed") from error


def _stop_all(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.stop()


def _too_large(data: bytes, info: FileInfo, limits: ParseLimits) -> ParseError:
    message = f"{info.name!r} has {len(data):,} bytes, more than {limits.size:,}."
    return ParseError(message, reason="too_large", remedy="Split the document, or raise the limit.")
