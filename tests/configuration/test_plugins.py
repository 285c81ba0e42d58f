"""Steps and implementations of installed packages: found by name, loaded late, broken ones reported."""

from pathlib import Path

import pytest
from tests.configuration.own import Shorten, Upper

from refdesk.configuration import check_pipeline, json_schema, load_pipeline
from refdesk.errors import PipelineError
from refdesk.steps import Answer, Rewrite, Search

POINTS = """\
[refdesk.steps]
shorten = tests.configuration.own:Shorten
alias = tests.configuration.own:Shorten
function = tests.configuration.own:not_a_step
gone = tests.configuration.own:Gone
broken = broken_on_import:Step

[refdesk.workers]
upper = tests.configuration.own:Upper
missing = nowhere_at_all:Worker
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package that offers steps and implementations."""
    info = tmp_path / "offers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offers\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(POINTS, "utf-8")
    (tmp_path / "broken_on_import.py").write_text("raise RuntimeError('no licence')", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def problem(entry: object) -> str:
    with pytest.raises(PipelineError) as raised:
        load_pipeline({"version": 1, "steps": [entry, "search", "answer"]})
    [found] = raised.value.problems
    assert found.position == "1"
    return found.reason


def test_a_package_offers_steps_and_implementations() -> None:
    entries = [{"shorten": {"words": 2}}, {"rewrite": {"rewriter": {"upper": {"suffix": "!"}}}}]
    loaded = load_pipeline({"version": 1, "steps": [*entries, "search", "answer"]})
    assert loaded == Shorten(words=2) | Rewrite(rewriter=(Upper, {"suffix": "!"})) | Search() | Answer()


def test_what_a_package_cannot_give_is_a_problem() -> None:
    cannot = "which the package 'offers' offers and which cannot be loaded"
    assert problem("gone").startswith(f"It names tests.configuration.own:Gone, {cannot}: AttributeError")
    assert problem("broken") == f"It names broken_on_import:Step, {cannot}: RuntimeError: no licence."
    assert problem("function").endswith("which is no step of that name.")
    assert problem("alias").endswith("which is no step of that name.")
    assert f"{cannot}: ModuleNotFoundError" in problem({"rewrite": {"rewriter": "missing"}})


def test_offered_names_are_suggested_and_not_loaded_for_it() -> None:
    found = check_pipeline(
        {"version": 1, "steps": ["brokn", {"rewrite": {"rewriter": "uper"}}, "search", "answer"]}
    )
    assert found.problems[0].remedy == "Did you mean 'broken'?"
    assert "did you mean 'upper'?" in found.problems[1].reason


def test_what_is_given_goes_before_what_is_offered() -> None:
    data = {"version": 1, "steps": [{"rewrite": {"rewriter": "upper"}}, "search", "answer"]}
    assert load_pipeline(data, workers={"upper": str.upper}).steps[0] == Rewrite(rewriter=str.upper)
    assert load_pipeline(data).steps[0] == Rewrite(rewriter=Upper)


def test_the_schema_has_offered_steps_and_leaves_broken_ones_open() -> None:
    defined = json_schema()["$defs"]
    assert defined["shorten-options"]["properties"]["words"]["minimum"] == 1
    assert defined["broken-options"]["type"] == "object"
    assert "no licence" in defined["broken-options"]["description"]
