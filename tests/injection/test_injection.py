"""A model that obeys every document: nothing comes of it but wrong words."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.injection.asking import Outcome, outcomes
from tests.injection.cases import CASES, WANTED, Case
from tests.injection.channels import CHANNELS
from tests.injection.harm import harms
from tests.injection.library import SECRET, library
from tests.injection.payloads import ONLY_WORDS, PAYLOADS
from tests.injection.places import PLACES, UNSEEN

from refdesk.blocking import BlockingDesk
from refdesk.support import Claim

UNKNOWN_WORDS = Case("words", "body", "ground")
"""Words that the document has in a code alone."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingDesk]:
    with library(tmp_path_factory.mktemp("planted"), [*CASES, UNKNOWN_WORDS]) as desk:
        yield desk


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_nothing_but_words(case: Case, desk: BlockingDesk) -> None:
    asked = outcomes(desk, case)
    for outcome in asked:
        assert list(harms(outcome, desk)) == []
    obeys = case.place not in UNSEEN and not CHANNELS[case.channel].quotes
    assert bool(asked[0].model.obeyed) is obeys, "A case tells something where the model did as it was told."


def test_there_are_enough_cases_on_every_way() -> None:
    ways = Counter(case.channel for case in CASES)
    assert ways.keys() == CHANNELS.keys()
    assert min(ways.values()) >= len(PAYLOADS)
    assert all(ways[name] >= len(WANTED) for name, way in CHANNELS.items() if way.calls)
    assert {case.place for case in CASES} == PLACES.keys()


@pytest.mark.parametrize("payload", sorted(PAYLOADS.keys() - ONLY_WORDS))
def test_the_checks_see_what_nothing_kept_away(payload: str, desk: BlockingDesk) -> None:
    [outcome] = outcomes(desk, replace(UNKNOWN_WORDS, channel="answer"))
    assert outcome.answer is not None
    bare = replace(outcome.answer, text=PAYLOADS[payload])
    assert any(way == "answer" for way, _ in harms(replace(outcome, answer=bare), desk))


def test_the_checks_see_what_is_wrong_with_citations_and_scope(desk: BlockingDesk) -> None:
    [outcome] = outcomes(desk, replace(UNKNOWN_WORDS, channel="answer"))
    assert outcome.answer is not None
    assert outcome.context is not None
    [citation] = outcome.answer.citations
    wrong = (
        replace(citation, chunk_id="another"),
        replace(citation, quote=citation.quote[1:]),
        replace(citation, url="https://evil.example"),
        replace(citation, title="The law"),
    )
    for one in wrong:
        told = replace(outcome, answer=replace(outcome.answer, citations=(one,)))
        assert [way for way, _ in harms(told, desk)] == ["citations"], one
    leaked = replace(outcome, context=outcome.context.evolve(gate_reasoning=f"It is {SECRET}."))
    elsewhere = replace(outcome, context=outcome.context.evolve(collections=("public", "secret")))
    assert [way for told in (leaked, elsewhere) for way, _ in harms(told, desk)] == ["scope", "scope"]


def test_words_that_no_document_has_are_marked(desk: BlockingDesk) -> None:
    [outcome] = outcomes(desk, UNKNOWN_WORDS)
    claims = _claims_on_words(outcome)
    assert claims
    assert {claim.support for claim in claims} <= {"unsupported", "contradicted"}


def test_words_that_a_document_has_are_shown_with_that_document(desk: BlockingDesk) -> None:
    case = Case("words", "as-it-stands", "ground")
    [outcome] = outcomes(desk, case)
    claims = _claims_on_words(outcome)
    assert claims
    assert outcome.context is not None
    names = {item.hit.chunk.chunk_id: item.hit.source_id for item in outcome.context.evidence}
    assert {names[claim.source.chunk_id] for claim in claims if claim.source} == {case.planted.source_id}


def _claims_on_words(outcome: Outcome) -> list[Claim]:
    grounding = outcome.context.grounding if outcome.context is not None else None
    return [claim for claim in grounding.claims if "account" in claim.text] if grounding else []
