"""What Postgres itself cannot hold is held all the same, or refused in words."""

import dataclasses
from contextlib import aclosing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import PUBLIC, Scope
from refdesk.errors import EmbeddingMismatch, InputError, StoreError
from refdesk.filters import Compare, Equals
from refdesk.stores import Failure
from refdesk.stores.postgres import open_postgres
from refdesk.stores.postgres.texts import LONGEST_TERM, escaped, plain, term
from refdesk.testing.stores.samples import COLLECTION, DIMENSION, put, sample

pytestmark = pytest.mark.anyio

LONG = "xy" * 20_000
"""Longer than any value of an index may be, and hard to compress once it is mixed."""
MIXED = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(10_000))


@given(st.text(), st.text())
def test_escaping_keeps_order_and_equality(one: str, other: str) -> None:
    assert plain(escaped(one)) == one
    assert "\0" not in escaped(one)
    assert (escaped(one) < escaped(other)) == (one < other)
    assert (escaped(one) == escaped(other)) == (one == other)


@given(st.text(alphabet="ab\0\1\2\3", max_size=8), st.text(alphabet="ab\0\1\2\3", max_size=8))
def test_terms_are_told_apart(one: str, other: str) -> None:
    assert (term(one) == term(other)) == (one == other)


@given(st.integers(LONGEST_TERM - 3, LONGEST_TERM + 3), st.sampled_from("aé数\0"))
def test_long_terms_are_short_and_told_apart(length: int, letter: str) -> None:
    one, other = letter * length, letter * (length - 1) + "b"
    assert term(one) != term(other)
    assert len(term(one).encode()) <= 2 * LONGEST_TERM


@pytest.mark.parametrize("long", [LONG, MIXED, "\0" * 5_000], ids=["repeated", "mixed", "nul"])
async def test_ids_values_and_words_of_any_length_are_kept_and_found(postgres: str, long: str) -> None:
    stored = sample(
        long,
        f"words {long.replace(chr(0), 'z')}",
        metadata={long: long, "n": 1},
        url=long,
        acl=(PUBLIC, long.replace("\0", "z")),
    )
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, stored, sample("a", "other words", metadata={long: "b"}))
        await store.record_failures(COLLECTION, [Failure(source_id=f"{long}2", reason=long, message=long)])
        reader = await store.reader(Scope())
        assert await reader.document(stored.document.document_id) == stored.document
        assert await reader.count(Equals(long, long)) == (1, 1)
        assert await reader.count(Compare(long, ">", "b")) == (int(long > "b"), int(long > "b"))
        (hit,) = await reader.keyword_search([stored.tokens[0].split()[1]], top_k=5)
        assert hit.source_id == long
        assert set(await store.entries(COLLECTION)) == {long, "a"}
        assert set(await store.failures(COLLECTION)) == {f"{long}2"}
        assert (await store.delete(COLLECTION, [long, f"{long}2"])).documents == 1


async def test_a_word_may_be_in_a_chunk_any_number_of_times(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "word " * 40_000), sample("b", "word other"))
        hits = await (await store.reader(Scope())).keyword_search(["word"], top_k=5)
        assert {hit.source_id for hit in hits} == {"a", "b"}


@pytest.mark.parametrize("dimension", [0, -1, 16_001])
async def test_vectors_that_no_column_can_hold_are_refused(postgres: str, dimension: int) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await store.create(COLLECTION)
        with pytest.raises(InputError, match="1 to 16000 are allowed"):
            await store.write(COLLECTION, [], fingerprint="f", dimension=dimension)
        with pytest.raises(InputError, match="1 to 16000 are allowed"):
            await store.remake(COLLECTION, fingerprint="f", dimension=dimension, recipe="r")


async def test_other_dimensions_under_one_name_are_refused(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        await put(store, sample("a", "words"))
        space = (await store.collection(COLLECTION)).fingerprint
        wide = dataclasses.replace(sample("b", "words"), vectors=np.eye(1, DIMENSION + 1, dtype=np.float32))
        with pytest.raises(EmbeddingMismatch, match=f"{DIMENSION} dimensions, these have {DIMENSION + 1}"):
            await store.write(COLLECTION, [wide], fingerprint=space, dimension=DIMENSION + 1)


async def test_a_name_that_is_too_long_is_refused_and_others_are_not(postgres: str) -> None:
    async with aclosing(await open_postgres(postgres)) as store:
        with pytest.raises(InputError, match="1001 bytes; 1000 are allowed"):
            await store.create("x" * 1001)
        assert (await store.create("ä\0" * 250)).name == "ä\0" * 250


async def test_chunk_ids_that_are_too_long_are_an_error_in_words(postgres: str) -> None:
    stored = sample("a", "words")
    chunk = dataclasses.replace(stored.chunks[0], chunk_id=MIXED)
    async with aclosing(await open_postgres(postgres)) as store:
        with pytest.raises(StoreError, match="index row") as raised:
            await put(store, dataclasses.replace(stored, chunks=(chunk,)))
        assert "Shorten" in raised.value.remedy
        assert await (await store.reader(Scope())).count() == (0, 0)
