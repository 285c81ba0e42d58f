"""Commands as processes: pipes, terminals, signals."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import pytest
from rich.cells import cell_len
from tests.cli.conftest import QUESTION, Command, Process, Run

COLOUR = re.compile(r"\x1b\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])[0-9;]*m")
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(command: Command, *args: str, columns: int, env: Mapping[str, str] = {}) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit code and all that it showed."""
    words, environment = command(*args, env={"TERM": "xterm-256color", **env})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(words, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while piece := read(ours):
        shown += piece
    os.close(ours)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux ends a terminal's output so
        return b""


def started(command: Command, *args: str) -> "subprocess.Popen[str]":
    words, environment = command(*args, env={"PYTHONUNBUFFERED": "1"})
    return subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def line_of(stream: IO[str] | None, wanted: str) -> str:
    """Read lines until one has the wanted text; fail at the end of the stream."""
    assert stream, "the pipe was asked for"
    for line in stream:
        if wanted in line:
            return line
    pytest.fail(f"{wanted!r} never came")


def test_streams_are_kept_apart(filled: Run, process: Process, llm: str) -> None:
    done = process("ask", QUESTION, "--json", "--llm", llm)
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["question"] == QUESTION


def test_an_error_of_a_process(process: Process) -> None:
    done = process("ingest", "nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error \[source_unreadable\]: .*\n", done.stderr)


@pytest.mark.parametrize("args", [("documents", "show", "handbook/long.txt"), ("search", "leave", "--json")])
def test_a_reader_that_leaves_early_is_no_error(filled: Run, command: Command, args: tuple[str, ...]) -> None:
    Path("handbook/long.txt").write_text("A line of a long text about leave.\n" * 5000, "utf-8")
    filled("ingest", "handbook")
    words, environment = command(*args)
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_a_narrow_terminal(filled: Run, command: Command, llm: str) -> None:
    asking = ("ask", QUESTION, "--llm", llm)
    for args in (asking, ("documents", "list"), ("stats",), ("search", "leave", "--explain")):
        code, shown = on_terminal(command, *args, columns=40)
        assert code == 0, shown[-300:]
        lines = STYLE.sub("", shown).splitlines()
        assert len(lines) > 2
        assert not [line for line in lines if cell_len(line) > 40]


def test_no_colour_where_none_is_wanted(filled: Run, command: Command) -> None:
    assert COLOUR.search(on_terminal(command, "ingest", "handbook", columns=80)[1])
    plain = on_terminal(command, "ingest", "handbook", columns=80, env={"NO_COLOR": "1"})[1]
    assert not COLOUR.search(plain)


def test_progress_on_a_terminal_leaves_the_summary(command: Command) -> None:
    code, shown = on_terminal(command, "ingest", "handbook", columns=80)
    assert code == 0
    assert "/3" in shown
    assert "added 3 in " in shown.rpartition("\x1b[2K")[2]


def test_a_terminal_is_asked_before_a_collection_is_deleted(filled: Run, command: Command) -> None:
    words, environment = command("collections", "delete", "default")
    for reply, code, told in (("n", 1, "Nothing was changed."), ("y", 0, "Deleted the collection default:")):
        ours, theirs = pty.openpty()
        done = subprocess.Popen(
            words, env=environment, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        os.write(ours, f"{reply}\n".encode())
        output, _ = done.communicate()
        os.close(theirs)
        os.close(ours)
        assert done.returncode == code
        assert told in output


def test_watch_takes_up_changes_until_interrupted(command: Command, place: Path) -> None:
    process = started(command, "ingest", "handbook", "--watch", "--json")
    assert json.loads(line_of(process.stdout, "{"))["counts"]["added"] == 3
    line_of(process.stderr, "Watching for changes")
    (place / "handbook" / "new.md").write_text("# News\n\nSomething new.\n", "utf-8")
    assert json.loads(line_of(process.stdout, "{"))["counts"]["added"] == 1
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert process.returncode == 130
    assert output == ""
    assert errors == "Interrupted. 4 documents are stored; run the same command again to go on.\n"


def test_an_interrupted_ingest_goes_on_where_it_ended(
    command: Command, process: Process, place: Path
) -> None:
    for number in range(130):
        text = f"# Note {number}\n\n" + f"Note {number} says this and that. " * 20
        (place / "handbook" / f"note{number}.md").write_text(text, "utf-8")
    words, environment = command("ingest", "handbook", env={"TERM": "xterm"})
    ours, theirs = pty.openpty()
    running = subprocess.Popen(words, env=environment, stderr=theirs, stdout=subprocess.DEVNULL)
    os.close(theirs)
    shown = ""
    while not re.search(r"\b[1-9][0-9]*/133", shown):
        piece = read(ours).decode(errors="replace")
        assert piece, shown
        shown += piece
    running.send_signal(signal.SIGINT)
    while piece := read(ours).decode(errors="replace"):
        shown += piece
    os.close(ours)
    assert running.wait() == 130, shown[-300:]
    told = re.search(
        r"Interrupted\. (\d+) documents are stored; run the same command again to go on\.\s*$", shown
    )
    assert told
    assert 0 < int(told[1]) < 133
    counts = json.loads(process("ingest", "handbook", "--json").stdout)["counts"]
    assert (counts["unchanged"], counts["added"]) == (int(told[1]), 133 - int(told[1]))


def test_an_early_interrupt_is_quiet(command: Command) -> None:
    words, environment = command("ingest", "handbook")
    running = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)
    while not Path(".refdesk").exists():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate()
    assert running.returncode == 130
    assert re.fullmatch(r"Interrupted.*again to go on\.\n", errors)


def test_help_loads_nothing_heavy(command: Command) -> None:
    listing = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from refdesk.cli.main import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(*sorted(sys.modules))"
    )
    _, environment = command()
    done = subprocess.run([sys.executable, "-c", listing], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    heavy = {"numpy", "lancedb", "pyarrow", "onnxruntime", "anyio", "httpx", "refdesk.desk"}
    assert not heavy & set(done.stdout.split())


AGAIN = """
import atexit, os, signal, sys
from refdesk.cli.entry import main

def again(number=signal.SIGINT, kill=os.kill, process=os.getpid()):
    kill(process, number)

class Last:
    def __del__(self, again=again):
        again()

if sys.argv.pop(1) == "atexit":
    atexit.register(again)
else:
    last = Last()  # goes when modules are taken down, behind the handlers of signals
main()
"""


def interrupted(command: Command, code: str, *more: str) -> subprocess.Popen[str]:
    """Let code run the command that watches, and send it a first interrupt."""
    words, environment = command("ingest", "handbook", "--watch", "--json")
    process = subprocess.Popen(
        [words[0], "-c", code, *more, *words[3:]],
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line_of(process.stderr, "Watching for changes")
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.parametrize("when", ["atexit", "later"])
def test_a_second_interrupt_changes_nothing(command: Command, when: str) -> None:
    process = interrupted(command, AGAIN, when)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert errors == "Interrupted. 3 documents are stored; run the same command again to go on.\n"


def test_a_second_interrupt_ends_what_does_not_end_by_itself(command: Command) -> None:
    endless = (
        "import threading, time\n"
        "from refdesk.cli.entry import main\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "main()"
    )
    process = interrupted(command, endless)
    line_of(process.stderr, "Interrupted. 3 documents are stored")
    assert process.poll() is None
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    assert process.communicate() is not None
    assert process.returncode == 130
