"""`refdesk eval grounding`, on a small data set made here."""

import json
from pathlib import Path

import pytest
from tests.cli.calling import as_json, failing
from tests.cli.conftest import Run

from refdesk.evaluation.calibrating.faithfulness import DOMAINS
from refdesk.testing.chat_server import ServerReply, chat_server

FACTS = [
    (f"The {metal} of store {n} weighs {n + 20} kilos.", n + 20) for n, metal in enumerate(("zinc", "iron"))
]


def rows(split: str) -> list[dict[str, object]]:
    """Return two faithful and two other texts."""
    return [
        {"doc": f"{fact} It is kept dry.", "summary": text, "label": label, "split": split}
        for fact, weight in FACTS
        for text, label in ((fact, 1), (fact.replace(str(weight), "99"), 0))
    ]


@pytest.fixture
def data(place: Path) -> Path:
    """A data set of two domains."""
    folder = place / "pairs"
    folder.mkdir()
    for domain in ("metals", "stores"):
        path = folder / f"summedits_{domain}.json"
        path.write_text(json.dumps([*rows("evaluation"), *rows("test")]), "utf-8")
    return folder


def test_a_table_shows_every_domain_and_the_mean(run: Run, data: Path) -> None:
    result = run("eval", "grounding", "--data", "pairs", "--grounder", "lexical")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0] == ["domain", "texts", "lexical", "fitted", "AUC"]
    assert ["metals", "4", "100.0", "100.0", "1.000"] in lines
    assert ["stores", "4", "100.0", "100.0", "1.000"] in lines
    assert ["mean", "8", "100.0", "100.0", "1.000"] in lines
    assert "where its weakest statement reaches 1.000, which parts" in " ".join(result.stdout.split())
    assert result.stderr == ""


def test_json_has_the_same(run: Run, data: Path) -> None:
    found = as_json(run, "eval", "grounding", "--data", "pairs", "--grounder", "lexical")
    assert (found["data"], found["grounder"], found["mean"], found["mean_auc"]) == (
        "pairs",
        "lexical",
        1.0,
        1.0,
    )
    assert [(one["domain"], one["cases"], one["faithful"]) for one in found["domains"]] == [
        ("metals", 4, 2),
        ("stores", 4, 2),
    ]


def test_the_default_is_named_by_what_judged(run: Run, data: Path) -> None:
    """The tiny model of these tests is not MiniLM, so that `local` is `lexical`."""
    assert as_json(run, "eval", "grounding", "--data", "pairs")["grounder"] == "lexical"


def test_published_figures_stand_beside_the_same_domains(run: Run, data: Path) -> None:
    text = (data / "summedits_metals.json").read_text("utf-8")
    for path in data.iterdir():
        path.unlink()
    for domain in DOMAINS:
        (data / f"summedits_{domain}.json").write_text(text, "utf-8")
    result = run("eval", "grounding", "--data", "pairs", "--grounder", "lexical")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    assert lines[0][5:] == ["human", "GPT-4", "ChatGPT", "QAFactEval", "SummaC-Conv"]
    assert ["podcast", "4", "100.0", "100.0", "1.000", "90.8", "82.7", "68.4", "63.7", "58.1"] in lines
    assert ["mean", "32", "100.0", "100.0", "1.000", "90.6", "83.2", "72.5", "67.4", "57.1"] in lines


def test_a_limit_holds_for_each_domain_and_split(run: Run, data: Path) -> None:
    found = as_json(run, "eval", "grounding", "--data", "pairs", "--grounder", "lexical", "--limit", "2")
    assert [one["cases"] for one in found["domains"]] == [2, 2]


def test_what_cannot_be_judged_is_a_warning(run: Run, data: Path) -> None:
    path = data / "summedits_stores.json"
    more = [{"doc": FACTS[0][0], "summary": "Yes.", "label": 1, "split": "test"}]
    path.write_text(json.dumps([*rows("test")[:1], *more]), "utf-8")
    result = run("eval", "grounding", "--data", "pairs", "--grounder", "lexical")
    assert result.exit_code == 0, result.output
    assert "warning: 1 texts could not be judged and are left out." in result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["stores", "1", "–", "–", "–"] in lines
    assert ["mean", "5", "100.0", "100.0", "1.000"] in lines


def test_a_judge_asks_the_model_of_the_settings(run: Run, data: Path) -> None:
    verdict = json.dumps({"claims": [{"claim": FACTS[0][0], "verdict": "supported", "sources": [1]}]})
    with chat_server(ServerReply(pieces=[verdict])) as server:
        model = f"openai:scripted@{server.base_url}"
        env = {"REFDESK_LLM": model}
        result = run("eval", "grounding", "--data", "pairs", "--grounder", "judge", "--limit", "2", env=env)
    assert result.exit_code == 0, result.output
    assert "judge" in result.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--data", "absent"), "There is no folder 'absent'"),
        (("--data", "handbook"), "'handbook' has no labelled pairs"),
        (("--data", "pairs", "--grounder", "lexicla"), "Did you mean 'lexical'?"),
        (("--data", "pairs", "--grounder", "judge"), "needs a language model"),
    ],
)
def test_mistakes_are_one_line(run: Run, data: Path, args: tuple[str, ...], said: str) -> None:
    assert said in failing(run, "eval", "grounding", *args, code=1)


def test_a_broken_row_is_named(run: Run, data: Path) -> None:
    broken = [*rows("evaluation"), {"doc": "x", "summary": "y", "label": "maybe", "split": "test"}]
    (data / "summedits_stores.json").write_text(json.dumps(broken), "utf-8")
    line = failing(run, "eval", "grounding", "--data", "pairs", code=1)
    assert "Row 5 of 'pairs/summedits_stores.json' has the label 'maybe'" in line
