"""What is embedded before a chunk: declared, kept with the document, and part of its digest."""

import pytest

from refdesk.chunking import Chunker, embedded_text, lead
from refdesk.chunking.strategies import STRATEGY_KEY, strategy_of, with_strategy
from refdesk.documents import Document, Metadata, Strategy
from refdesk.ingest import Recipe
from refdesk.ingest.prepare import new_metadata, parsed_text
from refdesk.sources import SourceItem
from refdesk.stores import Entry

LIMIT = 40
POST: Metadata = {"category": "Pumps > Repair", "tags": ("seals", "noise"), "topic_id": 7}


def count_words(text: str) -> int:
    return len(text.split())


RECIPE = Recipe(chunker=Chunker(count_words, LIMIT), fingerprint="space")


def item(strategy: Strategy = "post", metadata: Metadata = POST, text: str = "It leaks.") -> SourceItem:
    return SourceItem(
        source_id="1", name="1", text=text, title="A wet floor", metadata=metadata, strategy=strategy
    )


def document(one: SourceItem) -> Document:
    return RECIPE.document(one, parsed_text(one), "c")


def test_a_post_leads_with_title_category_and_tags() -> None:
    prepared = RECIPE.prepare(document(item()))
    assert prepared.texts == ("A wet floor > Pumps > Repair > seals, noise\nIt leaks.",)
    assert {"seal", "nois", "pump"} <= set(prepared.tokens[0].split())
    assert prepared.document.text == "It leaks."


def test_titled_leads_with_the_title_alone() -> None:
    prepared = RECIPE.prepare(document(item("titled")))
    assert prepared.texts == ("A wet floor\nIt leaks.",)
    assert STRATEGY_KEY not in prepared.document.metadata


@pytest.mark.parametrize(
    ("metadata", "leading"),
    [
        ({}, "T"),
        ({"category": ""}, "T"),
        ({"category": "C", "tags": ()}, "T > C"),
        ({"tags": ("a",)}, "T > a"),
        ({"tags": "a,b", "category": 5}, "T > 5 > a,b"),
    ],
)
def test_what_is_missing_is_left_out(metadata: Metadata, leading: str) -> None:
    assert lead("T", with_strategy(metadata, "post")) == leading


def test_it_is_remembered_when_embedded_again() -> None:
    stored = document(item())
    assert strategy_of(stored.metadata) == "post"
    assert RECIPE.prepare(RECIPE.remade(stored)).texts == RECIPE.prepare(stored).texts


def test_another_strategy_or_value_is_another_digest() -> None:
    digests = [
        RECIPE.digest(one)
        for one in (
            item(),
            item("titled"),
            item(metadata={**POST, "category": "Pumps"}),
            item(metadata={**POST, "tags": ("seals",)}),
        )
    ]
    assert len(set(digests)) == 4
    assert RECIPE.digest(item(metadata={**POST, "topic_id": 8})) == digests[0]
    assert RECIPE.digest(item("titled", metadata={})) == digests[1]


def test_a_document_cannot_choose_by_its_own_metadata() -> None:
    claimed = document(item("titled", {**POST, STRATEGY_KEY: "post"}))
    assert RECIPE.prepare(claimed).texts == ("A wet floor\nIt leaks.",)
    assert strategy_of({STRATEGY_KEY: "no such"}) == "titled"


def test_unchanged_metadata_stays_unchanged() -> None:
    stored = document(item())
    entry = Entry(
        source_id="1",
        digest=stored.digest,
        chunks=1,
        metadata=stored.metadata,
        title="A wet floor",
        acl=stored.acl,
    )
    assert new_metadata(entry, item()) is None


def test_a_long_lead_takes_no_more_than_its_share() -> None:
    many = item(metadata={"category": "wide " * 30, "tags": ("x",) * 30}, text="word " * 100)
    prepared = RECIPE.prepare(document(many))
    assert all(count_words(text) <= LIMIT for text in prepared.texts)
    assert " ".join(chunk.text for chunk in prepared.chunks).split() == ["word"] * 100
    assert embedded_text("", prepared.chunks[0], count_words, LIMIT) == prepared.chunks[0].text
