"""Runs that are kept: what is read back, names, resuming, and what is left of a process that was killed."""

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.context import Turn
from refdesk.errors import InputError, NotFound, StoreError, StoreLocked
from refdesk.evaluation.datasets.cases import Gold, Need
from refdesk.evaluation.runs.outcomes import AnswerOutcome, CaseOutcome, Channel, RunHeader
from refdesk.evaluation.runs.runlines import line_of, read_outcomes
from refdesk.evaluation.runs.store import KILLED, OpenRun, RunStore, default_folder
from refdesk.settings import Settings


def header(name: str = "one", **changes: Any) -> RunHeader:
    known = RunHeader(
        name=name,
        data="metals",
        split="test",
        data_digest="0123",
        cases=3,
        pipeline="default",
        pipeline_yaml="version: 1\nsteps: [search, answer]\n",
        settings={"mode": "vector"},
        versions={"refdesk": "1"},
        options={"channels": ("keyword",)},
        seed=0,
        started="2030-01-01T00:00:00+00:00",
    )
    return replace(known, **changes)


def outcome(name: str, **changes: Any) -> CaseOutcome:
    return replace(CaseOutcome(case_id=name, question=f"What is {name}?"), **changes)


FULL = outcome(
    "full",
    tags=("a", "b"),
    answerable=False,
    needs=(Need(alternatives=(Gold(document="d", quote="q", start=3),), grade=2),),
    answers=("thirty",),
    history=(Turn("user", "Before?"), Turn("assistant", "Yes.")),
    measures={"keyword.nDCG@10": 0.5, "seconds": 0.25},
    excluded={"answer.right": "nobody knows"},
    channels=(Channel(name="keyword", documents=("d", "e"), spans=(("d", 0, 4),), seconds=0.1),),
    answer=AnswerOutcome(
        text="Thirty [1].",
        refusal="abstained",
        citations=({"marker": 1, "quote": "thirty"},),
        claims=({"text": "Thirty [1].", "support": "supported", "cited": [1]},),
        confidence=0.5,
        judgements={"answer.right": "so it is"},
    ),
    warnings=("careful",),
    trace=("search  3 ms",),
    tokens=7,
)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


def begun(store: RunStore, *outcomes: CaseOutcome, name: str = "one") -> OpenRun:
    run = store.begin(header(name), resume=False)
    for one in outcomes:
        run.add(one)
    return run


def test_a_run_comes_back_as_it_was(store: RunStore) -> None:
    begun(store, outcome("a"), FULL).finish("done")
    run = store.read("one")
    assert list(run.outcomes) == ["a", "full"]
    assert run.outcomes["full"] == FULL
    assert (run.status, run.error) == ("done", "")
    assert run.header == header(options={"channels": ["keyword"]})
    assert run.finished > "2020"
    assert store.names() == ("one",)


@given(st.text(), st.text(), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_and_number_comes_back(
    tmp_path_factory: pytest.TempPathFactory, question: str, answer: str, value: float
) -> None:
    one = CaseOutcome(
        case_id="x", question=question, measures={"m": value}, answer=AnswerOutcome(text=answer)
    )
    folder = tmp_path_factory.mktemp("run")
    (folder / "cases.jsonl").write_bytes(line_of(one))
    assert read_outcomes(folder) == {"x": one}


def test_half_a_character_is_replaced(store: RunStore) -> None:
    begun(store, outcome("a", question="odd \ud800 sign")).finish("done", "odd \ud800 error")
    assert store.read("one").outcomes["a"].question == "odd ? sign"


def test_what_is_no_number_is_never_stored(store: RunStore) -> None:
    with begun(store) as run, pytest.raises(ValueError, match="Out of range"):
        run.add(outcome("a", measures={"m": math.nan}))
    assert store.read("one").outcomes == {}


def test_outcomes_are_there_at_once(store: RunStore) -> None:
    with begun(store, outcome("a")) as run:
        assert list(store.read("one").outcomes) == ["a"]
        assert store.read("one").status == "running"
        run.add(outcome("b"))
        assert list(store.read("one").outcomes) == ["a", "b"]
    assert store.read("one").status == "done"


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (KeyboardInterrupt(), "interrupted", "It was broken off."),
        (InputError("No good.", remedy="Do this."), "crashed", "No good. Do this."),
        (ZeroDivisionError(), "crashed", "ZeroDivisionError"),
    ],
)
def test_how_a_run_ends(store: RunStore, error: BaseException, status: str, told: str) -> None:
    with pytest.raises(type(error)), begun(store, outcome("a")):
        raise error
    run = store.read("one")
    assert (run.status, run.error, list(run.outcomes)) == (status, told, ["a"])


def test_an_end_that_was_told_stays(store: RunStore) -> None:
    with begun(store) as run:
        run.finish("interrupted", "enough")
    assert (store.read("one").status, store.read("one").error) == ("interrupted", "enough")


def test_a_run_goes_on(store: RunStore) -> None:
    begun(store, outcome("a"), outcome("b", error="failed")).finish("interrupted")
    with store.begin(header(started="later"), resume=True) as run:
        assert list(run.known) == ["a"], "Cases that failed are asked again."
        assert run.header.started == header().started
        run.add(outcome("a"))
        run.add(outcome("b", tags=("new",)))
    found = store.read("one")
    assert found.status == "done"
    assert found.outcomes["b"] == outcome("b", tags=("new",))
    lines = (store.folder / "one" / "cases.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 3, "What is known is not written again."


def test_resuming_what_is_not_there_begins_it(store: RunStore) -> None:
    with store.begin(header(), resume=True) as run:
        assert run.known == {}
    assert store.read("one").status == "done"


def test_a_last_line_that_was_cut_off_is_left_out(store: RunStore) -> None:
    begun(store, outcome("a"), outcome("b")).finish("done")
    path = store.folder / "one" / "cases.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    assert list(store.read("one").outcomes) == ["a"]
    with store.begin(header(), resume=True) as run:
        assert list(run.known) == ["a"]
        run.add(outcome("c"))
    assert list(store.read("one").outcomes) == ["a", "c"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"data": "woods"}, "data was 'metals' and is 'woods'"),
        ({"data_digest": "9"}, "data_digest was"),
        ({"pipeline_yaml": "version: 1\nsteps: [answer]\n"}, "the pipeline differs"),
        ({"settings": {"mode": "keyword"}}, "mode was 'vector' and is 'keyword'"),
        ({"settings": {}}, "mode was 'vector' and is None"),
        ({"options": {"channels": ("vector",)}}, "channels was ['keyword'] and is ['vector']"),
        ({"seed": 4}, "seed was 0 and is 4"),
    ],
)
def test_something_else_is_not_resumed(store: RunStore, changes: dict[str, Any], told: str) -> None:
    begun(store, outcome("a")).finish("interrupted")
    with pytest.raises(InputError) as caught:
        store.begin(header(**changes), resume=True)
    assert told in str(caught.value)
    assert store.read("one").status == "interrupted"
    store.begin(header(), resume=True).finish("done")


def test_a_name_that_is_taken(store: RunStore) -> None:
    begun(store).finish("done")
    with pytest.raises(InputError, match=r"already.*--resume"):
        store.begin(header(), resume=False)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "-r", "a b", "x" * 101, "a\n"])
def test_a_name_that_cannot_be_used(store: RunStore, name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        store.begin(header(name), resume=True)
    assert not store.folder.exists()


def test_an_unknown_name(store: RunStore) -> None:
    with pytest.raises(NotFound, match=r"There are no runs\."):
        store.read("one")
    begun(store, name="rerank-25").finish("done")
    with pytest.raises(NotFound, match="Did you mean 'rerank-25'"):
        store.read("rerank25")
    with pytest.raises(NotFound, match="Runs there: rerank-25"):
        store.remove("zzz")


def test_one_writer_at_a_time(store: RunStore) -> None:
    with begun(store, outcome("a")):
        with pytest.raises(StoreLocked, match="Another process writes the run 'one'"):
            store.begin(header(), resume=True)
        with pytest.raises(StoreLocked):
            store.remove("one")
    store.remove("one")
    assert store.names() == ()


WRITER = """
import sys, time
from tests.evaluation.runs.test_runs import header, outcome
from refdesk.evaluation.runs.store import RunStore
from pathlib import Path
run = RunStore(Path(sys.argv[1])).begin(header(), resume=False)
run.add(outcome("a"))
print("ready", flush=True)
time.sleep(60)
"""


def test_a_process_that_was_killed_is_told_as_crashed(store: RunStore) -> None:
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": root}
    words = [sys.executable, "-c", WRITER, str(store.folder)]
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert store.read("one").status == "running"
        with pytest.raises(StoreLocked):
            store.begin(header(), resume=True)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run = store.read("one")
    assert (run.status, run.error, list(run.outcomes)) == ("crashed", KILLED, ["a"])
    with store.begin(header(), resume=True) as again:
        assert list(again.known) == ["a"]
    assert store.read("one").status == "done"


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("run.json", "{", "run.json"),
        ("run.json", '{"status": "done"}', "run.json: header"),
        ("cases.jsonl", '{"case_id": 1}\n', "line 1 of cases.jsonl: case_id"),
        ("cases.jsonl", "nonsense\n", "line 1 of cases.jsonl"),
    ],
)
def test_damaged_files(store: RunStore, file: str, content: str, told: str) -> None:
    begun(store).finish("done")
    (store.folder / "one" / file).write_text(content, "utf-8")
    with pytest.raises(StoreError) as caught:
        store.read("one")
    assert told in str(caught.value)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"):
        RunStore(tmp_path / "file" / "runs").begin(header(), resume=False)


def test_a_header_is_readable_json(store: RunStore) -> None:
    begun(store).finish("done")
    plain = json.loads((store.folder / "one" / "run.json").read_text("utf-8"))
    assert (plain["status"], plain["header"]["data"]) == ("done", "metals")


def test_runs_are_in_the_library() -> None:
    assert default_folder(Settings(library="lib")) == Path("lib/evaluations")
