"""The parser process: `python -m refdesk.parsing.worker`, fed with frames by `ParserPool`.

It cannot reach the network or start programs, takes no more memory than it is allowed, and ends when the
process that started it is gone, in whatever way.
"""

import json
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from refdesk.errors import ParseError
from refdesk.parsing import Parsed, ParseLimits
from refdesk.parsing.reading import read
from refdesk.parsing.wire import error_head, parse_request, parsed_head, read_frame, write_frame

if sys.platform != "win32":
    import resource

Request = tuple[dict[str, Any], bytes]

_FORBIDDEN = (
    "socket.connect",
    "socket.bind",
    "socket.get",
    "socket.send",
    "subprocess.",
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "pty.",
)


def main() -> None:
    """Answer requests until the input ends. The one argument maps format names to parsers, as JSON."""
    incoming, replies = _own_pipes()
    _be_quiet()
    sys.addaudithook(_refuse)
    parsers = json.loads(sys.argv[1])
    requests: SimpleQueue[Request] = SimpleQueue()
    threading.Thread(target=_receive, args=(incoming, requests), daemon=True).start()
    idle = _memory_in_use()
    write_frame(replies, {"ready": True})
    while True:
        head, data = requests.get()
        reply, body = _answer(head, data, parsers, idle)
        del data
        reply["memory"] = _memory_in_use() - idle
        write_frame(replies, reply, body)


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take the pipes away from libraries: they read nothing, and what they print goes to standard error."""
    incoming, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, replies


def _be_quiet() -> None:
    """Leave Ctrl-C to the parent, drop warnings and logs of libraries, write no core file."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    logging.disable()
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _refuse(event: str, _: tuple[Any, ...]) -> None:
    """Refuse what no parser needs and a hostile document may want."""
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"A parser may not do {event}.")


def _receive(stream: BinaryIO, requests: "SimpleQueue[Request]") -> None:
    """Queue the requests; end the process with the input, even in the middle of a document."""
    try:
        while True:
            requests.put(read_frame(stream))
    except BaseException:
        os._exit(0)


def _answer(
    head: dict[str, Any], data: bytes, parsers: Mapping[str, str], idle: int
) -> tuple[dict[str, Any], bytes]:
    info, limits = parse_request(head)
    _limit_memory(limits, idle)
    try:
        parsed: Parsed = read(data, info, limits, parsers)
        return parsed_head(parsed), parsed.text.encode()
    except ParseError as error:
        return error_head(error), b""
    except MemoryError:
        message = f"{info.name!r} needs more than {limits.memory // 2**20} MiB to read."
        remedy = "Split the document, or raise the memory limit of parsing."
        return error_head(ParseError(message, reason="memory", remedy=remedy)), b""


def _limit_memory(limits: ParseLimits, idle: int) -> None:
    # RLIMIT_DATA and not RLIMIT_AS: libraries reserve address space that they never use.
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (idle + limits.memory, resource.RLIM_INFINITY))


def _memory_in_use() -> int:
    """Return the bytes of private writable memory, what RLIMIT_DATA counts; 0 where it cannot be told."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()


if __name__ == "__main__":
    main()
