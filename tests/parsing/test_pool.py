"""Limits of the parser processes: what fails, fails alone, and the next document works."""

import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, ParseLimits
from refdesk.parsing.formats import PARSERS
from refdesk.parsing.pool import ParserPool

pytestmark = pytest.mark.anyio

TEXT = FileInfo(name="a.txt")


def hostile(name: str, *, limits: ParseLimits | None = None) -> ParserPool:
    """Return a pool that reads .log files as text and hands .csv files to a parser that misbehaves."""
    return ParserPool(limits=limits, workers=1, parsers={**PARSERS, "csv": f"hostile_parsers:{name}"})


@pytest.fixture(autouse=True)
def parsers_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


async def reason_and_recovery(pool: ParserPool) -> str:
    """Return why a hostile document failed, after checking that the next one is read."""
    try:
        with pytest.raises(ParseError) as caught:
            await pool.parse(b"a,b", FileInfo(name="bad.csv"))
        assert (await pool.parse(b"fine", TEXT)).text == "fine"
    finally:
        await pool.aclose()
    assert "bad.csv" in caught.value.message
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "limits", "reason"),
    [
        ("sleep", ParseLimits(seconds=0.3), "timeout"),
        ("leave", ParseLimits(), "crashed"),
        ("segfault", ParseLimits(), "crashed"),
        ("connect", ParseLimits(), "damaged"),
        ("start_program", ParseLimits(), "damaged"),
        ("verbose", ParseLimits(characters=1000), "too_large"),
    ],
)
async def test_one_document_fails_alone(name: str, limits: ParseLimits, reason: str) -> None:
    assert await reason_and_recovery(hostile(name, limits=limits)) == reason


def frame(head: object, body: bytes = b"") -> bytes:
    encoded = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("!QQ", len(encoded), len(body)) + encoded + body


GOOD = {
    "title": "",
    "media_type": "",
    "pages": [],
    "headings": [],
    "metadata": {},
    "warnings": [],
    "memory": 0,
}


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are those of POSIX")
@pytest.mark.parametrize(
    "reply",
    [
        b"x" * 64,
        frame(b"{no json"),
        frame(b"\xff\xfe"),
        frame(b"[" * 100_000),
        frame([1]),
        frame({}),
        frame({"memory": 0}),
        frame({"error": "x", "memory": 0}),
        frame({"error": "x", "reason": 1, "remedy": "", "memory": 0}),
        frame({**GOOD, "memory": "much"}),
        frame({**GOOD, "title": 1}),
        frame({**GOOD, "pages": [[1]]}),
        frame({**GOOD, "headings": [1]}),
        frame({**GOOD, "metadata": []}),
        frame({**GOOD, "metadata": {"a": {"datetime": "never"}}}),
        frame({**GOOD, "metadata": {"a": [[1]]}}),
        frame(GOOD, b"\xff"),
    ],
)
async def test_a_reply_that_is_none_costs_one_document(reply: bytes) -> None:
    pool = hostile("forge")
    try:
        with pytest.raises(ParseError, match=r"bad\.csv") as caught:
            await pool.parse(reply.hex().encode(), FileInfo(name="bad.csv", media_type="text/csv"))
        assert caught.value.reason == "crashed"
        assert (await pool.parse(b"fine", TEXT)).text == "fine"
    finally:
        await pool.aclose()


@pytest.mark.parametrize(
    ("code", "seconds", "reason", "said"),
    [
        ("import time; time.sleep(600)", 0.5, "timeout", "longer than 0.5 s to start"),
        ("import os; os.write(1, b'x' * 100)", 60, "crashed", "did not start"),
        ("import os; os._exit(3)", 60, "crashed", "exit code 3"),
    ],
)
async def test_a_process_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, seconds: float, reason: str, said: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    pool = ParserPool(workers=1, start_seconds=seconds)
    with pytest.raises(ParseError, match=said) as caught:
        await pool.parse(b"x", TEXT)
    assert caught.value.reason == reason


async def test_a_process_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(ParseError, match="cannot be started") as caught:
        await ParserPool().parse(b"x", TEXT)
    assert caught.value.reason == "crashed"


async def test_waiting_for_the_end_of_a_process_leaves_the_loop_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiter = "import os, time; os.close(1); open(os.environ['MARK'], 'w').close(); time.sleep(1); os._exit(4)"
    (tmp_path / "sitecustomize.py").write_text(waiter)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("MARK", str(tmp_path / "closed"))
    turns: list[bool] = []

    async def turn() -> None:
        while True:
            turns.append((tmp_path / "closed").exists())
            await anyio.sleep(0.01)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turn)
        with pytest.raises(ParseError, match="exit code 4"):
            await ParserPool().parse(b"x", TEXT)
        tasks.cancel_scope.cancel()
    assert sum(turns) > 5  # of about a hundred in the second between the pipe's end and the process's


def test_the_password_of_a_file_is_not_shown() -> None:
    assert "s3cret" not in repr(FileInfo(name="a.pdf", password="s3cret"))


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
async def test_memory_is_limited() -> None:
    assert await reason_and_recovery(hostile("allocate", limits=ParseLimits(memory=256 * 2**20))) == "memory"


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
async def test_a_worker_that_keeps_much_memory_is_replaced() -> None:
    pool = hostile("hoard", limits=ParseLimits(memory=256 * 2**20))
    first = await pool.parse(b"a", FileInfo(name="a.csv"))
    second = await pool.parse(b"a", FileInfo(name="a.csv"))
    await pool.aclose()
    assert first.text != second.text


async def test_a_worker_is_used_again_and_prints_nothing_into_the_replies() -> None:
    pool = hostile("chatter")
    pids = {(await pool.parse(b"a", FileInfo(name="a.csv"))).text for _ in range(3)}
    await pool.aclose()
    assert len(pids) == 1
    assert pids != {str(os.getpid())}


async def test_cancellation_stops_the_worker() -> None:
    pool = hostile("sleep")
    with anyio.move_on_after(0.5) as scope:
        await pool.parse(b"a", FileInfo(name="a.csv"))
    assert scope.cancelled_caught
    assert (await pool.parse(b"fine", TEXT)).text == "fine"
    await pool.aclose()


async def test_documents_beyond_the_size_limit_are_not_sent() -> None:
    pool = ParserPool(limits=ParseLimits(size=10))
    with pytest.raises(ParseError, match="11 bytes") as caught:
        await pool.parse(b"x" * 11, TEXT)
    assert caught.value.reason == "too_large"


async def test_many_at_once_keep_their_own_text() -> None:
    pool = ParserPool(workers=2)
    texts: dict[int, str] = {}

    async def one(number: int) -> None:
        texts[number] = (await pool.parse(f"text {number}".encode(), TEXT)).text

    async with anyio.create_task_group() as tasks:
        for number in range(40):
            tasks.start_soon(one, number)
    await pool.aclose()
    assert texts == {number: f"text {number}" for number in range(40)}


async def test_a_parser_that_cannot_be_loaded_is_not_silent() -> None:
    pool = ParserPool(parsers={"text": "refdesk.parsing.nowhere:parse"})
    with pytest.raises(ParseError, match="nowhere"):
        await pool.parse(b"x", TEXT)
    await pool.aclose()


@pytest.fixture
def parent(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a process whose worker is busy for ten minutes; its output names the worker."""
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            """
            import anyio, sys
            from refdesk.parsing import FileInfo
            from refdesk.parsing.pool import ParserPool
            async def main():
                parsers = {"text": "hostile_parsers:chatter", "csv": "hostile_parsers:sleep"}
                pool = ParserPool(workers=1, parsers=parsers)
                print((await pool.parse(b"a", FileInfo(name="a.txt"))).text, flush=True)
                await pool.parse(b"a", FileInfo(name="a.csv"))
            anyio.run(main)
            """
        )
    )
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
async def test_the_worker_ends_with_its_parent(
    parent: "subprocess.Popen[bytes]", sent: signal.Signals
) -> None:
    assert parent.stdout, "the output was asked for"
    worker = int(await anyio.to_thread.run_sync(parent.stdout.readline))
    os.kill(worker, 0)
    with anyio.fail_after(30):
        while _alive(worker):
            # A signal right before asyncio waits is seen with its next event, or with the next signal.
            parent.send_signal(sent)
            await anyio.sleep(0.5)
    _, errors = await anyio.to_thread.run_sync(parent.communicate)
    assert b"worker.py" not in errors


def _alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended and was not yet collected does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
