"""Where gold stands, and what rankings are worth by it."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.cleaning import clean
from refdesk.evaluation.datasets.cases import Case, Gold, Need
from refdesk.evaluation.datasets.gold import (
    MEASURES,
    POLLUTION,
    ChunkSpan,
    Judged,
    judged,
    measures_of,
    place,
)
from refdesk.evaluation.searching.metrics import MEASURES as DOCUMENT_MEASURES
from refdesk.evaluation.searching.metrics import ranked_documents, score_rankings
from refdesk.testing.rerankers import sample_hit

TEXT = "Leave is thirty days. Unused leave ends in March. Leave is asked for in writing."


def gold(quote: str = "", start: int | None = None, *, document: str = "a") -> Gold:
    return Gold(document=document, quote=quote, start=start)


def need(*alternatives: Gold, grade: int = 1) -> Need:
    return Need(alternatives=alternatives, grade=grade)


def case(*needs: Need) -> Case:
    return Case(case_id="q", question="Why?", needs=needs)


def found(text: str, one: Gold) -> str | None:
    span = place(one, text)
    return None if span is None else text[slice(*span)]


@pytest.mark.parametrize(
    ("one", "span"),
    [
        (gold(), (0, len(TEXT))),
        (gold("Leave", 0), (0, 5)),
        (gold("Leave", 50), (50, 55)),
        (gold("Leave", 40), (50, 55)),
        (gold("Leave", 10), (0, 5)),
        (gold("Leave", 900), (50, 55)),
        (gold("Leave"), (0, 5)),
        (gold("holiday", 3), None),
        (gold("LEAVE"), None),
        (gold("  "), None),
    ],
)
def test_gold_stands_where_it_is_said_to_or_nearest_to_it(one: Gold, span: tuple[int, int] | None) -> None:
    assert place(one, TEXT) == span


@pytest.mark.parametrize(
    ("quote", "text", "there"),
    [
        ("a\n  b", "x a b y", "a b"),
        ("a b", "x a \n\tb y", "a \n\tb"),
        ("a\xa0b", "x a b", "a b"),
        (" a b ", "xa b", "a b"),
        ('said "no"', "he said “no”.", "said “no”"),
        ("l’eau", "de l'eau", "l'eau"),
        ("1990–1995", "in 1990-1995", "1990-1995"),
        ("cafe\u0301", "un café noir", "café"),
        ("café", "un cafe\u0301 noir", "cafe\u0301"),
        ("\u1112\u1161\u11ab\uae00", "한글이", "한글"),
        ("co\xadoperate", "they cooperate", "cooperate"),
        ("cooperate", "they co\xadoperate", "co\xadoperate"),
        ("1\xe2\x81\u201e2 in", clean("8 1\xe2\x81\u201e2 in").text, clean("1\xe2\x81\u201e2 in").text),
        ("(a.b)*", "x (a.b)*", "(a.b)*"),
        ("a\n" * 30 + "c", "a " * 30 + "b " + "a " * 30 + "c.", "a " * 30 + "c"),
        ("a\n" + "\u1112\u1161\u11ab" * 60, "a " + "한" * 60, "a " + "한" * 60),
        ("e\n" + "é" * 60, "e " + "e\u0301" * 60, "e " + "e\u0301" * 60),
        ("a\n" * 90, "a " * 89, None),
        ("l\u2009’eau", "l  'eau", "l  'eau"),
        ("cafe", "un cafe\u0301\nnoir", "cafe"),
        ("cafe\n1", "un cafe\u03011", None),
        ("un  cafe", "un cafe\u0301", None),
        ("a b", "ab", None),
        ("\xad", "a", None),
    ],
)
def test_a_quote_may_be_set_otherwise(quote: str, text: str, there: str | None) -> None:
    assert found(text, gold(quote)) == there


@given(st.text(max_size=80), st.text(min_size=1, max_size=20), st.text(max_size=80))
def test_a_quote_is_found_in_the_text_as_it_is_stored(before: str, quote: str, after: str) -> None:
    """What is cleaned away at the edges may take letters that compose with their neighbours."""
    text = clean(f"{before}. {quote} .{after}").text
    one = gold(quote, len(before) + 2)
    if clean(quote).text.strip() and clean(f". {quote} .").text == f". {clean(quote).text} .":
        span = place(one, text)
        assert span is not None
        assert 0 <= span[0] < span[1] <= len(text)


@given(st.text(alphabet="ab \n\xa0'’\u0301eé", min_size=1, max_size=12), st.integers(0, 30))
def test_a_place_is_in_the_text(quote: str, start: int) -> None:
    text = unicodedata.normalize("NFC", "ab  é'b e\u0301 a’ \n ab é b a")
    span = place(gold(quote, start), text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


SPANS: tuple[ChunkSpan, ...] = (("b", 0, 50), ("a", 0, 21), ("a", 22, 49), ("c", 0, 9), ("a", 50, 80))
TEXTS = {"a": TEXT, "b": "Nothing of the kind.", "c": "Thirty days it is."}


def test_whole_documents_stand_where_their_best_chunk_stands() -> None:
    result = judged(case(need(gold(), grade=2), need(gold(document="z"))), SPANS, {"a": ""})
    assert result.qrels == {"need 0": 2, "need 1": 1}
    assert result.ranking == ("other 0 0 b", "need 0", "other 0 0 c")
    assert result.ranks == (2, None)
    assert result.unusable == ("The document 'z' is not there.",)


def test_a_chunk_that_holds_half_of_a_span_meets_the_need() -> None:
    exact = need(gold("Unused leave ends in March."))
    assert judged(case(exact), SPANS, TEXTS).ranking.index("need 0") == 2
    half = need(gold("thirty days. Unused"))
    assert judged(case(half), SPANS, TEXTS).ranking.index("need 0") == 1


def test_small_chunks_meet_a_long_span_together() -> None:
    pieces = [("a", start, start + 10) for start in range(0, 80, 10)]
    result = judged(case(need(gold(TEXT))), pieces, TEXTS)
    assert result.ranking.index("need 0") == 3
    assert len(result.ranking) == 8


def test_the_same_piece_twice_is_not_two() -> None:
    pieces = [("a", 0, 30), ("a", 5, 30), ("a", 0, 30), ("a", 30, 45)]
    assert judged(case(need(gold(TEXT))), pieces, TEXTS).ranking == (
        "other 0 30 a",
        "other 5 30 a",
        "need 0",
    )


def test_any_alternative_will_do_and_a_need_counts_once() -> None:
    either = need(gold("Thirty days", document="c"), gold("thirty days"))
    result = judged(case(either), SPANS, TEXTS)
    assert result.ranking == ("other 0 50 b", "need 0", "other 22 49 a", "other 0 9 c", "other 50 80 a")


def test_a_chunk_that_meets_several_needs_stands_for_each() -> None:
    result = judged(case(need(gold("thirty days")), need(gold("Leave is"))), SPANS, TEXTS)
    assert result.ranking[:3] == ("other 0 50 b", "need 0", "need 1")
    assert result.ranks == (2, 2)
    assert measures_of(result, SPANS)["Recall@10"] == 1


def test_documents_and_spans_together_are_judged_by_chunks() -> None:
    result = judged(case(need(gold(document="c")), need(gold("in writing"))), SPANS, TEXTS)
    assert result.ranking == ("other 0 50 b", "other 0 21 a", "other 22 49 a", "need 0", "need 1")


def test_gold_that_is_not_there_is_named() -> None:
    result = judged(
        case(need(gold("holiday")), need(gold("holiday"), gold("March")), need(gold("x", document="z"))),
        SPANS,
        TEXTS,
    )
    assert result.qrels == {"need 1": 1, "need 2": 1}
    assert result.unusable == (
        "The document 'a' does not hold 'holiday'.",
        "The document 'z' is not there.",
    )
    assert "need 2" not in result.ranking
    assert result.ranks == (None, 3, None)
    assert measures_of(result, SPANS)["Recall@10"] == 0.5


def test_where_nothing_can_be_judged_only_pollution_is_measured() -> None:
    for one in (case(), case(need(gold("holiday")))):
        assert measures_of(judged(one, SPANS, TEXTS), SPANS) == {POLLUTION: 3.0}
    assert measures_of(judged(case(), (), TEXTS), ()) == {}


def test_measures_are_those_of_ir_measures() -> None:
    values = measures_of(Judged(qrels={"x": 1, "y": 1}, ranking=("o", "x", "p", "q", "r", "s", "y")), SPANS)
    assert set(values) == {*MEASURES, POLLUTION}
    assert values["Hit@1"] == 0
    assert values["Hit@5"] == values["Hit@10"] == 1
    assert (values["Recall@2"], values["Recall@5"], values["Recall@10"]) == (0.5, 0.5, 1)
    assert (values["Precision@5"], values["MRR@10"]) == (0.2, 0.5)
    assert values["MAP@100"] == pytest.approx((1 / 2 + 2 / 7) / 2)
    assert 0.5 < values["nDCG@10"] < 0.7


def test_nothing_found_is_0() -> None:
    values = measures_of(judged(case(need(gold())), (), {}), ())
    assert values == dict.fromkeys(MEASURES, 0.0)


@given(st.integers(0, 10**9))
def test_whole_documents_are_scored_as_in_data_sets_of_beir(seed: int) -> None:
    draw = random.Random(seed)
    names = [f"d{number}" for number in range(150)]
    grades = {name: draw.randint(1, 3) for name in draw.sample(names, draw.randint(1, 8))}
    spans = [(draw.choice(names), at, at + 9) for at in range(draw.randint(0, 300))]
    hits = [sample_hit(f"{name} {at}", source_id=name) for name, at, _ in spans]
    graded = case(*(need(gold(document=name), grade=grade) for name, grade in grades.items()))
    ours = measures_of(judged(graded, spans, {}), spans)
    [theirs] = score_rankings({"q": grades}, {"q": ranked_documents(hits)}).values()
    assert {name: ours[name] for name in DOCUMENT_MEASURES} == theirs
