"""Sweep files: what they say, and all that is wrong with them at once."""

from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InputError
from refdesk.evaluation.sweeps.reading import Budget, Sweep, read_sweep
from refdesk.settings import Settings

PLAIN = """\
name: depth
data: questions
objective: pipeline.nDCG@10
base:
  pipeline: simple
  settings: {candidates: 50}
factors:
  fusion: [zscore, rrf]
  search.top_k: [5, 10]
strategy: grid
budget: {runs: 3, seconds: 60}
sample: 100
race: 20
"""


def reading(folder: Path, text: str, **options: Any) -> Sweep:
    path = folder / "sweep.yaml"
    path.write_text(text, "utf-8")
    return read_sweep(path, settings=Settings(), **options)


def refused(folder: Path, text: str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        reading(folder, text, **options)
    return str(caught.value)


def test_a_file_becomes_a_sweep(tmp_path: Path) -> None:
    sweep = reading(tmp_path, PLAIN)
    assert (sweep.name, sweep.data) == ("depth", str(tmp_path / "questions"))
    assert (sweep.base.settings.candidates, sweep.base.own.candidates) == (50, 150)
    assert sweep.budget == Budget(runs=3, seconds=60.0)
    assert [one.name for one in sweep.candidates()] == ["base", "search.top_k=5", "search.top_k=10"]


def test_the_command_line_has_the_last_word(tmp_path: Path) -> None:
    sweep = reading(tmp_path, PLAIN, data="elsewhere", budget={"runs": 2.0, "dollars": 1.5})
    assert sweep.data == "elsewhere"
    assert sweep.budget == Budget(runs=2, seconds=60.0, dollars=1.5)


def test_a_mapping_and_defaults() -> None:
    sweep = read_sweep(
        {"data": "d", "objective": "answer.right", "factors": {"evidence": [4, 6]}}, settings=Settings()
    )
    assert (sweep.name, sweep.strategy, sweep.race, sweep.every) == ("sweep", "one_at_a_time", None, 1)
    assert [one.name for one in sweep.candidates()] == ["base", "evidence=4"]


def test_everything_wrong_is_said_at_once(tmp_path: Path) -> None:
    text = """\
objctive: x
objective: pipeline.nDCG@11
base: {pipeline: nowhere.yaml, settings: {candidates: many, moed: hybrid}, other: 1}
factors:
  fusion: [zscore, sum]
  rerank_depth: 25
  search.topk: [5]
  candidates: [100, 100]
strategy: best
budget: {runs: 0.5, minutes: 3}
sample: none
race: 5
"""
    said = refused(tmp_path, text)
    for expected in (
        "has 16 problems",
        "line 1: It has the key 'objctive'. Did you mean 'objective'?",
        "line 2: Its objective is 'pipeline.nDCG@11'. Did you mean 'pipeline.nDCG@10'?",
        "no preset and no file",
        "'candidates' from the base of the sweep is 'many'",
        "Did you mean 'mode'?",
        "Its base has the key 'other'",
        "The factor 'fusion': Setting 'fusion' from the sweep is 'sum'",
        "line 6: The factor 'rerank_depth' is 25. Write a list of values.",
        "Did you mean 'top_k'?",
        "The factor 'candidates': A value is there twice.",
        "Its strategy is 'best'. Allowed is one of one_at_a_time, grid, random.",
        "Its budget of runs is 0.5",
        "Its budget has the key 'minutes'",
        "Its sample is 'none'. Allowed is a whole number.",
        "Its race is 5. Allowed is at least 10.",
        "It names no data.",
    ):
        assert expected in said, expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("factors:", "factors: {}\nfactors2:"), "It has the key 'factors2'"),
        (("strategy: grid", "strategy: random"), ""),
        (("pipeline: simple", "pipeline: modular"), "It needs a language model"),
        (("settings: {candidates: 50}", "settings: [1]"), "The settings of its base are no mapping"),
        (("pipeline: simple", "pipeline: [search]"), "The pipeline of its base is ['search']"),
        (("name: depth", "name: a/b"), "a word of at most 30 letters"),
        (("- ", "- "), ""),
    ],
)
def test_one_mistake_is_one_problem(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    text = PLAIN.replace(*change)
    if said:
        assert said in refused(tmp_path, text)
    else:
        assert reading(tmp_path, text).candidates()


def test_chance_needs_a_number_and_large_grids_a_budget(tmp_path: Path) -> None:
    without = PLAIN.replace("budget: {runs: 3, seconds: 60}\n", "")
    assert "nothing says how many" in refused(tmp_path, without.replace("grid", "random"))
    many = ", ".join(map(str, range(1, 300)))
    assert "598 configurations" in refused(tmp_path, without.replace("[5, 10]", f"[{many}]"))


def test_combinations_that_cannot_run_are_named(tmp_path: Path) -> None:
    text = PLAIN.replace("  fusion: [zscore, rrf]\n", "  pipeline: [simple, twice.yaml]\n")
    (tmp_path / "twice.yaml").write_text(
        "version: 1\nsteps: [{search: {id: first}}, {search: {id: second}}, answer]\n"
    )
    said = refused(tmp_path, text.replace("budget: {runs: 3, seconds: 60}\n", ""))
    assert "1 problem: (1) pipeline=twice.yaml+search.top_k=5: The pipeline 'twice' has no step" in said


@pytest.mark.parametrize("text", ["", "- a\n", "a: [", "a: *b\n", "\x00"])
def test_what_is_no_sweep_is_refused(tmp_path: Path, text: str) -> None:
    assert "The sweep 'sweep' has" in refused(tmp_path, text)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_sweep(tmp_path / "none.yaml", settings=Settings())
