"""Random replies in random pieces, read by a Markdown parser that is not ours."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.answering.own import own_answer
from refdesk.context import Answer, Evidence, NumberBy
from refdesk.events import Token
from refdesk.testing.replies import (
    BREAKS,
    HOSTILE,
    MARKERS,
    WORDS,
    faults,
    pieces,
    read,
    reply,
    sources,
    written,
)

LIBRARIES = [sources(random.Random(seed)) for seed in range(40)]
NUMBERINGS = st.sampled_from(get_args(NumberBy))
FRAGMENTS = st.sampled_from([*MARKERS, *HOSTILE, *WORDS, *BREAKS, " "])
REPLIES = st.lists(FRAGMENTS | st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=14)


def run(texts: Sequence[str], evidence: Sequence[Evidence], number_by: NumberBy) -> tuple[Answer, list[str]]:
    """Drive a coroutine that never waits."""
    coroutine = written(texts, evidence, number_by)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("It waited.")


@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 2**32), NUMBERINGS)
def test_replies_at_their_worst(seed: int, number_by: NumberBy) -> None:
    chance = random.Random(seed)
    documents, evidence = chance.choice(LIBRARIES)
    text = reply(chance)
    answer, shown = run(pieces(chance, text), evidence, number_by)
    assert faults(answer, shown, documents, evidence) == ()
    assert run([text], evidence, number_by)[0] == answer


@settings(max_examples=1500, deadline=None)
@given(REPLIES, NUMBERINGS)
def test_any_fragments(parts: list[str], number_by: NumberBy) -> None:
    documents, evidence = LIBRARIES[0]
    answer, shown = run(parts, evidence, number_by)
    assert faults(answer, shown, documents, evidence) == ()
    assert run(["".join(parts)], evidence, number_by)[0] == answer


WRITTEN = st.sampled_from(["[[{}]]", "[{}]", "【{}】", "［{}］", r"\[{}\]", "[[{}] ]"])


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(WRITTEN, st.integers(-1, 9)), min_size=1, max_size=12), st.integers(0, 2**16))
def test_plain_text_gives_what_can_be_counted(marks: list[tuple[str, int]], seed: int) -> None:
    """Words, each with a marker: the text, the numbers and the count can be said beforehand."""
    documents, evidence = LIBRARIES[1]
    valid = {item.number for item in evidence}
    text = " ".join(f"word {form.format(number)}" for form, number in marks)
    answer, shown = run(pieces(random.Random(seed), text), evidence, "chunk")
    order = list(dict.fromkeys(number for _, number in marks if number in valid))
    expected = (f"word [{order.index(n) + 1}]" if n in valid else "word" for _, n in marks)
    assert answer.text == " ".join(expected)
    assert answer.removed_markers == sum(number not in valid for _, number in marks)
    chunks = {item.number: item.hit.chunk.chunk_id for item in evidence}
    cited = dict.fromkeys((one.marker, one.chunk_id) for one in answer.citations)
    assert list(cited) == [(k, chunks[number]) for k, number in enumerate(order, 1)]
    assert faults(answer, shown, documents, evidence) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": "Other [1][2]."}, "streamed"),
        ({"citations": ()}, "cite nothing"),
        ({"text": "A [1] [x](https://evil.example)."}, "link_open"),
        ({"text": "A [1] <img src=x>."}, "HTML"),
        ({"text": "A [1] https://evil.example/x"}, "the address"),
        ({"text": "A. [2] [1]"}, "in the order"),
        ({"text": "A."}, "have no marker"),
    ],
)
def test_faults_are_seen(change: dict[str, object], said: str) -> None:
    documents, evidence = LIBRARIES[2]
    answer, shown = run(["A [[1]], b [[2]]."], evidence, "chunk")
    assert faults(answer, shown, documents, evidence) == ()
    assert any(said in fault for fault in faults(replace(answer, **change), shown, documents, evidence))  # type: ignore[arg-type]


def test_wrong_quotes_are_seen() -> None:
    documents, evidence = LIBRARIES[2]
    answer, shown = run(["A [[1]]."], evidence, "chunk")
    first = answer.citations[0]
    for wrong in (
        replace(first, quote=first.quote + "x"),
        replace(first, start=first.start + 1),
        replace(first, chunk_id="other"),
        replace(first, marker=2),
    ):
        changed = replace(answer, citations=(wrong,))
        assert faults(changed, shown, documents, evidence)
    assert faults(answer, ["A [", "1]."], documents, evidence)


def test_code_is_not_read_as_prose() -> None:
    assert read("`x[1]`\n\n```\n[2]\n```\n\n    [3]\n\n[4]").markers == [4]


@pytest.mark.anyio
async def test_own_answerers_number_documents_too() -> None:
    documents, evidence = LIBRARIES[3]
    texts = " ".join(f"Leave [[{item.number}]]." for item in evidence)
    events = [event async for event in own_answer("?", texts, evidence, number_by="document")]
    answer = events[-1].answer  # type: ignore[union-attr]
    cited = {item.hit.chunk.document_id for item in evidence}
    assert {one.marker for one in answer.citations} == set(range(1, len(cited) + 1))
    shown = [event.text for event in events if isinstance(event, Token)]
    assert faults(answer, shown, documents, evidence) == ()
