"""`refdesk eval sweep`: what it prints, its plan, its budget, and going on after Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import typer
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Run
from typer.testing import CliRunner, Result

from refdesk.cli import eval_sweep

METALS = ("zinc", "iron", "gold", "lead", "neon", "argon", "boron", "cobalt")
SWEEP = """\
name: small
data: metals
objective: pipeline.nDCG@10
base: {pipeline: simple}
factors:
  search.top_k: [1, 3]
  candidates: [5]
"""
CALL = ("eval", "sweep", "small.yaml")

app, group = typer.Typer(), typer.Typer()
eval_sweep.add_to(group)
group.callback()(lambda: None)
app.add_typer(group, name="eval")
app.callback()(lambda: None)


@pytest.fixture(autouse=True)
def metals(place: Path) -> None:
    """A data set of eight documents with a question each, and a sweep."""
    data = place / "metals"
    (data / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": f"d{n}", "title": "", "text": f"Bars of {metal} lie there."} for n, metal in enumerate(METALS)
    ]
    asked = [{"_id": f"q{n}", "text": f"bars of {metal}"} for n, metal in enumerate(METALS)]
    (data / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)), "utf-8")
    (data / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    (data / "qrels" / "test.tsv").write_text("\n".join(f"q{n}\td{n}\t1" for n in range(len(METALS))), "utf-8")
    (place / "small.yaml").write_text(SWEEP, "utf-8")


@pytest.fixture
def run(place: Path, variables: Mapping[str, str]) -> Run:
    def call(*args: str, input: str | None = None, env: Mapping[str, str] = {}) -> Result:
        return CliRunner(env={**variables, **env}).invoke(app, list(args), input=input)

    return call


def test_a_table_of_configurations_effects_and_a_verdict(run: Run) -> None:
    told = run(*CALL)
    assert told.exit_code == 0, told.output
    lines = told.stdout.splitlines()
    assert lines[0] == "metals, test: 8 questions, pipeline.nDCG@10"
    assert [line.split()[0] for line in lines[2:6]] == [
        "base",
        "search.top_k=1",
        "search.top_k=3",
        "candidates=5",
    ]
    assert "Effect of each value beside another, the other factors held equal:" in lines
    assert lines[-2].startswith("None is better than the base by pipeline.nDCG@10: it has ")
    assert re.match(r"A question takes it [\d.]+ ms\.", lines[-1])
    assert Path(".refdesk/evaluations/small.base/run.json").is_file()


def test_the_same_as_json_and_going_on(run: Run) -> None:
    once = as_json(run, *CALL, "--budget", "runs=2")
    assert [row["name"] for row in once["rows"]] == ["base", "search.top_k=1"]
    assert "2 runs already" in failing(run, *CALL, code=1)
    again = as_json(run, *CALL, "--resume")
    assert [row["status"] for row in again["rows"]] == ["done"] * 4
    alone = ("chance", "front")  # what depends on the others
    assert [{**row, **dict.fromkeys(alone)} for row in again["rows"][:2]] == [
        {**row, **dict.fromkeys(alone)} for row in once["rows"]
    ]


def test_a_dry_run_shows_what_would_be_tried(run: Run) -> None:
    told = run(*CALL, "--dry-run")
    assert told.stdout.startswith("4 configurations, 8 questions each\n")
    assert not Path(".refdesk").exists()
    names = [one["name"] for one in as_json(run, *CALL, "--dry-run")]
    assert names == ["base", "search.top_k=1", "search.top_k=3", "candidates=5"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("none.yaml",), "The sweep file 'none.yaml' cannot be read"),
        (("small.yaml", "--data", "nowhere"), "There is no data set 'nowhere'"),
        (("small.yaml", "--budget", "hours"), "The budget 'hours' is no WHAT=N"),
        (("small.yaml", "--budget", "hours=3"), "Its budget has the key 'hours'"),
    ],
)
def test_what_cannot_be_done_is_one_line(run: Run, args: tuple[str, ...], said: str) -> None:
    assert said in failing(run, *CALL[:2], *args, code=1)


def test_everything_wrong_with_a_file_is_said(run: Run) -> None:
    Path("bad.yaml").write_text(SWEEP.replace("candidates: [5]", "fusion: [sum]").replace("nDCG@10", "x"))
    said = failing(run, *CALL[:2], "bad.yaml", code=1)
    assert "has 2 problems: (1) line 3: Its objective is 'pipeline.x'." in said
    assert "(2) line 7: The factor 'fusion': Setting 'fusion' from the sweep is 'sum'" in said


def test_ctrl_c_shows_and_keeps_what_is_known(place: Path, variables: Mapping[str, str]) -> None:
    """Break off once the first configuration is asked, and go on."""
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
    code += "from tests.cli.test_eval_sweep import app; app()"
    many = ", ".join(map(str, range(1, 100)))
    (place / "small.yaml").write_text(SWEEP.replace("[1, 3]", f"[{many}]"), "utf-8")
    words = [sys.executable, "-c", code, *CALL]
    with subprocess.Popen(
        words, env={**variables, "PATH": ""}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        kept = place / ".refdesk" / "evaluations" / "small.base" / "cases.jsonl"
        while child.poll() is None and not (kept.exists() and kept.read_text("utf-8")):
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
    assert child.returncode == 130, err
    assert out.startswith("metals, test: 8 questions")
    assert "what was asked is kept, and --resume goes on" in err
    assert kept.read_text()
