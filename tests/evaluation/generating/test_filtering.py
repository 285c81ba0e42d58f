"""What keeps a question out of a test set."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import refdesk
from refdesk.desk import Desk
from refdesk.evaluation.datasets.cases import Gold
from refdesk.evaluation.generating.filtering import Doubles, difficulty, malformed, overlap, ranks, unled
from refdesk.testing.embedders import HashingEmbedder


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("According to the passage, when does it open?", "When does it open?"),
        ("Based on the given text: who built it?", "Who built it?"),
        ("In this document, what is a kestrel?", "What is a kestrel?"),
        ("Laut dem Text, wann öffnet es?", "Wann öffnet es?"),
        ("Selon le texte, quand ouvre-t-il ?", "Quand ouvre-t-il ?"),
        ("In the morning, when does it open?", "In the morning, when does it open?"),
        ("What is in the text field?", "What is in the text field?"),
    ],
)
def test_a_leading_reference_to_the_passage_is_taken_away(question: str, bare: str) -> None:
    assert unled(question) == bare


@pytest.mark.parametrize(
    ("question", "language", "told"),
    [
        ("When does the Veltrane ferry leave on Sundays?", "en", ""),
        ("Why?", "en", "too short"),
        ("What does the passage say about ferries?", "en", "points to a passage"),
        ("Who is mentioned above as the captain?", "en", "points to a passage"),
        ("Worum geht es im obigen Abschnitt genau?", "de", "points to a passage"),
        ("Wann fährt die Fähre am Sonntag von der Mole ab?", "en", "the question is in 'de'"),
        ("Wann fährt die Fähre am Sonntag von der Mole ab?", "de", ""),
        ("Quand part le ferry du dimanche depuis le quai nord ?", "fr", ""),
        ("numpy 2.1 wheels?", "en", ""),
        ("Which " + "very " * 100 + "long question?", "en", "more than 400"),
    ],
)
def test_form_and_language(question: str, language: str, told: str) -> None:
    reason = malformed(question, language)
    assert (told in reason) if told else reason == ""


def test_overlap_counts_words_that_say_something() -> None:
    gold = "The Veltrane ferry leaves the north pier at seven."
    assert overlap(gold, [gold], "en") == 1.0
    assert overlap("When does the boat go?", [gold], "en") == 0.0
    assert 0 < overlap("When does the Veltrane ferry go?", [gold], "en") < 0.5
    assert overlap("When?", [""], "en") == 0.0
    assert [difficulty(share) for share in (0.8, 0.5, 0.3, 0.1)] == ["easy", "easy", "medium", "hard"]


@pytest.mark.anyio
async def test_questions_that_say_the_same_are_found() -> None:
    doubles = Doubles(HashingEmbedder())
    assert await doubles.like("When does the ferry leave?") == ""
    assert await doubles.like("When does the ferry leave") == "When does the ferry leave?"
    assert await doubles.like("the ferry: when does leave?") == "When does the ferry leave?"
    assert await doubles.like("Who is the captain of the boat?") == ""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with refdesk.aopen(tmp_path / "lib", embedder=HashingEmbedder(), reranker="none") as desk:
        await desk.ingest_text("The ferry leaves at seven.", source_id="ferry")
        await desk.ingest_text("The tower has many steps.", source_id="tower")
        yield desk


@pytest.mark.anyio
async def test_the_way_back_is_a_chunk_that_holds_half_of_the_span(desk: Desk) -> None:
    ferry = Gold(document="ferry", quote="The ferry leaves at seven.", start=0)
    beyond = Gold(document="ferry", quote="The ferry leaves at seven.", start=20)
    other = Gold(document="tower", quote="The ferry leaves at seven.", start=0)
    found = await ranks(desk, "default", "When does the ferry leave?", [ferry, beyond], 5)
    assert found == {ferry: 1, beyond: None}
    assert (await ranks(desk, "default", "ferry leaves", [other], 1))[other] is None
