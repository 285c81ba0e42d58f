"""Rewritings of follow-up questions, held against what people wrote."""

import json
from pathlib import Path

import pytest

import refdesk
from refdesk.errors import LLMError, SourceError
from refdesk.evaluation.searching.rewriting import (
    FollowUp,
    Rewritten,
    as_they_are,
    read_cast,
    recalled,
    scored,
    step_rewriter,
    word_f1,
)
from refdesk.steps import Condense
from refdesk.testing import HashingEmbedder
from refdesk.testing.llm import ScriptedLLM

pytestmark = pytest.mark.anyio
TURNS = [
    {
        "number": 1,
        "raw_utterance": "How loud is the X300?",
        "manual_rewritten_utterance": "How loud is the X300?",
        "automatic_rewritten_utterance": "How loud is the X300?",
    },
    {
        "number": 2,
        "raw_utterance": "And its warranty?",
        "manual_rewritten_utterance": "How long is the warranty of the X300?",
        "automatic_rewritten_utterance": "And the warranty of the X300?",
    },
]


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.json"
    path.write_text(json.dumps([{"number": 81, "turn": TURNS}]), "utf-8")
    return path


def test_topics_are_read_with_what_was_said_before(topics: Path) -> None:
    first, second = read_cast(topics)
    assert (first.turn_id, first.before) == ("81_1", ())
    assert (second.turn_id, second.before) == ("81_2", ("How loud is the X300?",))
    assert second.shipped == "And the warranty of the X300?"


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '[{"turn": []}, {"number": 1}]', '[{"turn": [{"number": 1}]}]']
)
def test_what_are_no_topics(tmp_path: Path, text: str) -> None:
    path = tmp_path / "topics.json"
    path.write_text(text, "utf-8")
    if text == "{}":
        assert read_cast(path) == ()
    else:
        with pytest.raises(SourceError, match="no topics of TREC CAsT"):
            read_cast(path)
    with pytest.raises(SourceError, match="cannot be read"):
        read_cast(tmp_path / "missing.json")


def test_scores_by_hand(topics: Path) -> None:
    turns = read_cast(topics)
    there = as_they_are(turns)
    raw, shipped = (scored(name, turns, there[name]) for name in ("as said", "shipped"))
    assert word_f1("And its warranty?", "How long is the warranty of the X300?") == pytest.approx(2 / 11)
    assert raw.f1 == pytest.approx((1 + 2 / 11) / 2)
    assert (raw.exact, raw.recalled) == (0.5, 0.0)
    assert recalled(turns[1], "And the warranty of the X300?") == pytest.approx(3 / 6)
    assert recalled(turns[0], "anything") is None
    assert shipped.recalled == pytest.approx(0.5)
    assert word_f1("", "") == 1.0


def test_a_data_set_without_rewritings_of_its_own() -> None:
    turns = (FollowUp(turn_id="1", said="a", before=(), reference="a b"),)
    assert list(as_they_are(turns)) == ["as said"]
    assert scored("none", (), ()).turns == 0


async def test_a_step_rewrites_and_its_failures_are_counted(topics: Path, tmp_path: Path) -> None:
    turns = read_cast(topics)
    async with refdesk.aopen(tmp_path / "none", embedder=HashingEmbedder()) as desk:
        model = ScriptedLLM(["How long is the warranty of the X300?"])
        done = [await step_rewriter(desk, Condense(), llm=model)(turn) for turn in turns]
        assert len(model.asked) == 1
        report = scored("condense", turns, done)
        assert (report.f1, report.exact, report.recalled, report.failed) == (1.0, 1.0, 1.0, 0)
        down = ScriptedLLM([LLMError("The model is down.")])
        done = [await step_rewriter(desk, Condense(), llm=down)(turn) for turn in turns]
    assert [bool(one.failed) for one in done] == [False, True]
    assert done[1] == Rewritten(
        turn_id="81_2", text=turns[1].said, seconds=done[1].seconds, failed=done[1].failed
    )
    assert scored("condense", turns, done).failed == 1
