"""Levels of a grounder, fitted on labelled texts."""

import json
import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.chunking import Chunker
from refdesk.errors import InputError
from refdesk.evaluation.calibrating.faithfulness import MEASURED_ON, TUNED_ON, Case, Judged
from refdesk.evaluation.calibrating.labelled import LevelScores, judge_labelled, read_labelled
from refdesk.evaluation.calibrating.levels import fit_levels, fit_scores
from refdesk.grounding.judged import JudgedGrounder
from refdesk.grounding.lexical import LexicalGrounder
from refdesk.testing.llm import ScriptedLLM

GROUNDER = LexicalGrounder()


def judged(count: int = 200, seed: int = 0, grounder: str = "lexical") -> list[Judged]:
    """Return faithful texts around 0.8 and others around 0.3, half of each on either split."""
    drawn = random.Random(seed)
    found = []
    for number in range(count):
        for faithful, middle in ((True, 0.8), (False, 0.3)):
            score = min(1.0, max(0.0, drawn.gauss(middle, 0.12)))
            split = TUNED_ON if number % 2 else MEASURED_ON
            found.append(Judged(Case("d", "doc", f"text {number}", faithful, split), score, True, grounder))
    return found


def test_levels_part_what_they_were_not_fitted_on() -> None:
    report = fit_levels(judged(), GROUNDER, data="own")
    assert report.grounder == "lexical"
    assert report.fitted_on == {"faithful": 100, "other": 100}
    assert 0.4 < report.fitted.levels.supported_from < 0.7
    assert report.fitted.supported > 0.95
    assert report.fitted.rows[0].kind == "faithful"
    assert report.fitted.rows[0].unsupported.value <= 0.2
    assert report.auc.low > 0.95
    assert report.in_force.levels == GROUNDER.levels
    assert "100 faithful texts, 100 others" in report.fitted.levels.measured_on
    assert report.partial_from.low <= report.partial_from.value <= report.partial_from.high
    assert json.loads(json.dumps(report.to_json(per_text=True)))["scores"].keys() == {"faithful", "other"}


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.floats(0, 0.9),
)
def test_fitted_scores_are_levels(held: list[float], wrong: list[float], missed: float) -> None:
    supported, partial = fit_scores(np.array(held), np.array(wrong), missed)
    assert 0 <= partial <= supported <= 1


def test_a_promise_to_faithful_texts_is_kept_on_average() -> None:
    shares = [
        fit_levels(judged(40, seed), GROUNDER, data="own", missed=0.2).fitted.rows[0].unsupported.value
        for seed in range(30)
    ]
    assert sum(shares) / len(shares) <= 0.22


def test_too_few_texts_are_told_with_their_numbers() -> None:
    with pytest.raises(InputError, match="There are 4 faithful and 4 other texts to fit on, 5 and 5"):
        fit_levels(judged(9), GROUNDER, data="own")


def test_few_faithful_texts_bring_a_warning() -> None:
    report = fit_levels(judged(24), GROUNDER, data="own", missed=0.01)
    assert "12 faithful texts cannot promise that at most 1.0% are missed" in report.warnings[0]


def test_texts_that_another_grounder_judged_count_for_nobody() -> None:
    mixed = [*judged(), *(replace(one, score=0.0) for one in judged(5, 1, "other"))]
    report = fit_levels(mixed, GROUNDER, data="own")
    assert "10 texts were left to other. They are in no figure." in report.warnings
    assert report.fitted == fit_levels(judged(), GROUNDER, data="own").fitted
    with pytest.raises(InputError, match="400 texts were left to other"):
        fit_levels(judged(grounder="other"), GROUNDER, data="own")


def test_a_judge_has_no_levels_to_fit() -> None:
    with pytest.raises(InputError, match="'judge' has no levels"):
        fit_levels(judged(), JudgedGrounder(ScriptedLLM([""])), data="own")


@pytest.mark.parametrize("missed", [-0.1, 1.0])
def test_a_share_is_checked(missed: float) -> None:
    with pytest.raises(InputError, match="from 0 to less than 1"):
        fit_levels(judged(), GROUNDER, data="own", missed=missed)


def rows(count: int = 10) -> list[dict[str, Any]]:
    return [
        {
            "doc": f"Store {n} holds zinc.",
            "summary": f"Store {n} holds zinc." if label else "No.",
            "label": label,
        }
        for n in range(count)
        for label in (1, 0)
    ]


@pytest.mark.parametrize("name", ["texts.json", "texts.jsonl"])
def test_a_file_without_splits_is_divided_label_by_label(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(
        json.dumps(rows()) if name.endswith("json") else "\n".join(map(json.dumps, rows())), "utf-8"
    )
    cases = read_labelled(str(path))
    counts = {(case.split, case.faithful): 0 for case in cases}
    for case in cases:
        counts[case.split, case.faithful] += 1
    assert set(counts.values()) == {5}
    assert read_labelled(str(path)) == cases
    assert read_labelled(str(path), seed=3) != cases


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "cannot be read"),
        ("{}", "holds no list"),
        ("[]", "holds no list"),
        ("[3]", "Row 1 of .* is no object"),
        ('[{"doc": "a", "summary": "b"}]', "lacks 'label'"),
        ('[{"doc": "a", "summary": "b", "label": 1, "split": "train"}]', "has the split 'train'"),
    ],
)
def test_a_file_of_another_form_says_what_is_wrong(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "texts.json"
    path.write_text(content, "utf-8")
    with pytest.raises(InputError, match=told):
        read_labelled(str(path))


@pytest.mark.anyio
async def test_what_is_kept_is_not_judged_again(tmp_path: Path) -> None:
    cases = [Case("d", f"Store {n} holds zinc.", f"Store {n} holds zinc.", True, TUNED_ON) for n in range(3)]
    chunker = Chunker(lambda text: len(text.split()), 100)
    path = tmp_path / "scores.jsonl"
    with_file = LevelScores(path, {"grounder": "lexical"})
    first = await judge_labelled(cases[:2], GROUNDER, chunker, kept=with_file)
    with_file.close()
    seen: list[str] = []
    again = LevelScores(path, {"grounder": "lexical"})

    class Refusing(LexicalGrounder):
        async def ground(self, answer: str, hits: Any) -> Any:
            seen.append(answer)
            return await GROUNDER.ground(answer, hits)

    second = await judge_labelled(cases, Refusing(), chunker, kept=again)
    again.close()
    assert seen == ["Store 2 holds zinc."]
    assert second[:2] == first
    with closing(LevelScores(path, {"grounder": "lexical"})) as file:
        assert len(file.known) == 3
    with pytest.raises(InputError, match="grounder differs"):
        LevelScores(path, {"grounder": "another"})
