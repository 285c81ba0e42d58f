"""What the terminal and JSON say of statements that the sources do not hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import QUESTION, Run

from refdesk.cli.answers import doubts
from refdesk.cli.records import answer_record
from refdesk.context import Answer
from refdesk.evidence import number_hits
from refdesk.support import Claim, EvidenceSpan, Grounding
from refdesk.testing.rerankers import sample_hit

EVIDENCE = number_hits([sample_hit("A hotel may cost 120 euros.", source_id="travel.md", title="Travel")])
SOURCE = EvidenceSpan(
    number=1,
    chunk_id=EVIDENCE[0].hit.chunk.chunk_id,
    document_id="d",
    collection="samples",
    start=0,
    end=27,
    quote="A hotel may cost 120 euros.",
    score=0.9,
)


def said(text: str, **claim: Any) -> list[str]:
    one = Claim(text=text, start=0, end=len(text), **claim)
    answer = Answer(question="?", text=text, evidence=EVIDENCE, grounding=Grounding(score=0.5, claims=(one,)))
    assert answer_record(answer)["grounding"]["claims"][0]["support"] == one.support
    return list(doubts(one, answer))


@pytest.mark.parametrize(
    ("claim", "note"),
    [
        ({"support": "unsupported"}, "not in the sources: “Whales sing.”"),
        (
            {"support": "contradicted", "source": SOURCE},
            "the sources say otherwise: “Whales sing.” — Travel: “A hotel may cost 120 euros.”",
        ),
        ({"support": "contradicted"}, "the sources say otherwise: “Whales sing.”"),
        (
            {"support": "supported", "source": SOURCE, "cited": (2, 3, 1), "misattributed": (2, 3)},
            "[2][3] does not say this: “Whales sing.” — Travel: “A hotel may cost 120 euros.”",
        ),
    ],
)
def test_what_does_not_hold_is_said_plainly(claim: dict[str, Any], note: str) -> None:
    assert said("Whales sing.", **claim) == [note]


@pytest.mark.parametrize("support", ["supported", "partial", "unchecked"])
def test_of_what_holds_nothing_is_said(support: Any) -> None:
    assert said("Whales sing.", support=support, source=SOURCE) == []


def test_a_statement_steers_no_terminal() -> None:
    [note] = said("Whales\x1b[31m sing.\nLoudly.", support="unsupported")
    assert note.isprintable()


def test_an_answer_that_was_checked(filled: Run, llm: str, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("version: 1\nsteps:\n- search\n- answer\n- cite\n- ground\n", "utf-8")
    ask = ("ask", QUESTION, "--llm", llm, "--pipeline", str(own))
    grounding = json.loads(filled(*ask, "--json").stdout)["grounding"]
    [claim] = grounding["claims"]
    assert grounding["grounder"]
    assert claim["text"] == "Every employee has thirty days of leave a year [1]."
    assert claim["support"] in ("supported", "partial")
    assert claim["cited"] == [1]
    assert "the sources" not in filled(*ask).stdout
