"""Several processes on one file of conversations, and processes that are killed."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from refdesk.conversations import Key
from refdesk.conversations.sqlite import SQLiteConversations

pytestmark = pytest.mark.anyio

ADDING = """
import sys
from pathlib import Path
import anyio
from refdesk.context import Answer, Turn
from refdesk.conversations import Key, KeptHit, KeptResults
from refdesk.conversations.sqlite import SQLiteConversations

async def main(path, who, rounds):
    keeper = SQLiteConversations(Path(path))
    for number in range(int(rounds)):
        name = f"{who}.{number}"
        said = (Turn("user", name), Answer(question=name, text=name))
        await keeper.add(Key("", "shared"), said)
        await keeper.keep(Key("", who), [KeptResults(question=name)])
        print(name, flush=True)

anyio.run(main, *sys.argv[1:])
"""


def start(path: Path, who: str, rounds: int) -> "subprocess.Popen[str]":
    words = [sys.executable, "-c", ADDING, str(path), who, str(rounds)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def pairs(path: Path) -> list[str]:
    """Return what was said, each question with its answer after it."""
    found = [one.text for one in await SQLiteConversations(path).messages(Key("", "shared"))]
    assert found[::2] == found[1::2], "a question was parted from its answer"
    return found[::2]


async def test_many_processes_make_and_fill_one_file(tmp_path: Path) -> None:
    path = tmp_path / "library" / "conversations.sqlite"
    running = [start(path, f"p{number}", 15) for number in range(4)]
    for one in running:
        _, errors = one.communicate()
        assert (one.returncode, errors) == (0, "")
    found = await pairs(path)
    assert sorted(found) == sorted(f"p{who}.{number}" for who in range(4) for number in range(15))
    for who in range(4):
        own = [name for name in found if name.startswith(f"p{who}.")]
        assert own == [f"p{who}.{number}" for number in range(15)], "each in its order"
        assert (await SQLiteConversations(path).found(Key("", f"p{who}")))[0].question == f"p{who}.14"


async def test_what_was_acknowledged_outlives_its_process(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    acknowledged: list[str] = []
    for round_ in range(6):
        process = start(path, f"r{round_}", 100_000)
        assert process.stdout
        for _ in range(round_ + 1):
            acknowledged.append(process.stdout.readline().strip())
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        acknowledged += [line for line in rest.split("\n")[:-1] if line]
    found = Counter(await pairs(path))
    assert set(acknowledged) <= found.keys()
    assert set(found.values()) == {1}
    assert len(found) <= len(acknowledged) + 6, "at most the one that was under way is more"
