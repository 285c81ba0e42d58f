"""`refdesk pipeline`: checks and shows without a library, a model or a setting."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Process, Run

from refdesk.configuration import json_schema, presets

SIX = """\
version: 1
steps:
- serch
- rerank: {treshold: 7}
- dedupe: {keep: 0}
- cite
- answer
- review
- answer
- 5
"""
OWN = """\
version: 1
steps:
- search: {mode: keyword, top_k: 3}
- when:
    condition: hits<3
    steps:
    - expand
    - search
    - answer: {self_correct: true}
    otherwise:
    - answer: {on_error: continue}
- cite
"""


@pytest.fixture
def own(place: Path) -> str:
    (place / "own.yaml").write_text(OWN, "utf-8")
    (place / "six.yaml").write_text(SIX, "utf-8")
    return "own.yaml"


def test_check_lists_every_problem_and_runs_nothing(run: Run, own: str, place: Path) -> None:
    result = run("pipeline", "check", "six.yaml")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert [line.partition(": ")[0] for line in lines if not line.startswith("note:")] == [
        "step 1 (serch), line 3",
        "step 2 (rerank), line 4",
        "step 3 (dedupe), line 5",
        "step 4 (cite), line 6",
        "step 7 (answer), line 9",
        "step 8 (?), line 10",
    ]
    assert "Did you mean 'search'?" in lines[0]
    assert result.stderr == "error [pipeline_invalid]: 'six.yaml' has 6 problems; nothing was run.\n"
    assert sorted(path.name for path in place.iterdir()) == ["handbook", "own.yaml", "six.yaml"]


def test_check_as_json(run: Run, own: str) -> None:
    record = as_json(run, "pipeline", "check", "six.yaml", code=1)
    assert (record["source"], record["ok"], record["steps"]) == ("six.yaml", False, None)
    assert len(record["problems"]) == 6
    assert record["problems"][1] == {
        "position": "2",
        "step": "rerank",
        "reason": "It has no option 'treshold'.",
        "remedy": "Did you mean 'threshold'?",
        "line": 4,
    }
    record = as_json(run, "pipeline", "check", own)
    assert (record["ok"], record["steps"], record["problems"]) == (True, 7, [])
    assert record["remarks"][0]["position"] == "2.b1"


def test_check_of_a_pipeline_that_is_right(run: Run, own: str) -> None:
    result = run("pipeline", "check", own)
    assert result.exit_code == 0
    *notes, last = result.stdout.splitlines()
    assert last == "ok: 7 steps"
    assert notes[0].startswith("note: step 2.b1 (answer), line 11: When it fails the run goes on")
    assert all(line.startswith("note: ") for line in notes)


@pytest.mark.parametrize("name", presets())
def test_presets_are_right(run: Run, name: str) -> None:
    result = run("pipeline", "check", name)
    assert result.stdout.startswith("ok: ")
    assert result.exit_code == 0


@pytest.mark.parametrize("verb", ["check", "show"])
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("modlar", "error [not_found]: There is no preset and no file 'modlar'. Did you mean 'modular'?"),
        ("no.yaml", "error [not_found]: There is no preset and no file 'no.yaml'. Presets: simple"),
        ("handbook", "error [input_invalid]: The pipeline file 'handbook' is a folder."),
        ("binary.yaml", "error [input_invalid]: The pipeline file 'binary.yaml' is no UTF-8 text"),
        ("handbook/leave.md", "error [input_invalid]: The pipeline file 'handbook/leave.md' ends in '.md'"),
    ],
)
def test_what_cannot_be_read_is_one_line(run: Run, place: Path, verb: str, source: str, said: str) -> None:
    (place / "binary.yaml").write_bytes(b"\x00\x9f\x92\x96")
    assert failing(run, "pipeline", verb, source, code=1).startswith(said)


def test_an_empty_file_has_one_problem(run: Run, place: Path) -> None:
    (place / "empty.yaml").write_bytes(b"")
    result = run("pipeline", "check", "empty.yaml")
    assert result.exit_code == 1
    assert result.stdout == "line 1: It is empty. Write `version: 1` and `steps:`.\n"


def test_what_a_file_says_does_not_steer_the_terminal(run: Run, place: Path) -> None:
    (place / "evil.yaml").write_text(
        'version: 1\nsteps: ["\\e[31mred\\e]0;owned\\a", search, answer]', "utf-8"
    )
    result = run("pipeline", "check", "evil.yaml")
    assert "\x1b" not in result.stdout
    assert "step 1" in result.stdout


def test_show_prints_what_each_step_does(run: Run, own: str) -> None:
    result = run("pipeline", "show", own)
    assert result.exit_code == 0
    first, second = result.stdout.split("\n\n")
    rows = {line.split()[0]: line for line in first.splitlines()}
    assert first.splitlines()[0].split() == [
        "position",
        "step",
        "options",
        "kind",
        "on_error",
        "model",
        "streams",
    ]
    assert "top_k: 3, mode: keyword" in rows["1"]
    assert "condition: hits<3" in rows["2"]
    assert "self_correct: true" in rows["2.a3"]
    assert [place for place, row in rows.items() if row.endswith("yes")] == ["2.a3", "2.b1"]
    assert [place for place, row in rows.items() if "needed" in row] == ["2.a1"]
    reads = {line.split()[0]: line for line in second.splitlines()}
    assert "everything" in reads["2"]
    assert reads["3"].split()[2:6] == ["answer,", "evidence", "answer,", "citations"]
    assert reads["2.a1"].endswith("The query as it was.")


def test_show_as_json(run: Run) -> None:
    records = as_json(run, "pipeline", "show", "assistant")
    assert [one["step"] for one in records if one["streams"]] == ["review"]
    assert records[4]["options"] == {"after_retrieval": True}
    assert records[6] == {
        "position": "7",
        "step": "distill",
        "options": {},
        "kind": "context_optimizer",
        "reads": ["hits", "question", "skip_retrieval", "standalone"],
        "writes": ["distilled", "evidence", "results"],
        "on_error": "continue",
        "leaves": "The evidence as it was.",
        "needs_llm": True,
        "streams": False,
    }


def test_show_of_a_pipeline_that_is_wrong(run: Run, own: str) -> None:
    result = run("pipeline", "show", "six.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error [pipeline_invalid]: The pipeline 'six.yaml' has 6 problems:\n- ")
    assert result.stderr.count("\n") == 7


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_schema_is_json_either_way(run: Run, options: tuple[str, ...]) -> None:
    result = run("pipeline", "schema", *options)
    assert json.loads(result.stdout) == json_schema()


def test_list_names_the_presets(run: Run) -> None:
    found = as_json(run, "pipeline", "list")
    assert {one["name"]: one["description"] for one in found} == presets()
    lines = run("pipeline", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["name", *presets()]


def test_no_settings_and_no_library_are_needed(process: Process, own: str) -> None:
    result = process(
        "pipeline", "check", own, env={"REFDESK_EMBEDDER": "nonsense", "REFDESK_MODE": "nonsense"}
    )
    assert (result.returncode, result.stderr) == (0, "")
