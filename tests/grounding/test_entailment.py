"""The grounder that asks a classifier about sentences."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.grounding.tiny import EVIDENCE, OpenTiny

from refdesk.documents import Hit
from refdesk.errors import InputError
from refdesk.grounding.entailment import NliGrounder
from refdesk.grounding.levels import Levels
from refdesk.support import GroundedSpan, Grounding
from refdesk.testing.rerankers import sample_hit, sample_hits

pytestmark = pytest.mark.anyio

ANSWER = (
    "Thirty days of leave are granted [1]. The hotel costs 70 euros a night [2]. "
    "It must not be asked for [1]. Whales sing."
)


def spans(grounding: Grounding) -> list[GroundedSpan]:
    return sorted((*grounding.faithful_spans, *grounding.hallucinated_spans), key=lambda span: span.start)


def logistic(share: float) -> float:
    """Return what the tiny classifier with one label says of a share of words."""
    return 1 / (1 + math.exp(17.0 - 20.0 * share))


async def test_every_level_is_found(tiny: OpenTiny, hits: tuple[Hit, ...]) -> None:
    grounding = await NliGrounder(tiny(), Levels(0.9, 0.5)).ground(ANSWER, hits)
    found = spans(grounding)
    assert [span.text for span in found] == [
        "Thirty days of leave are granted [1].",
        "The hotel costs 70 euros a night [2].",
        "It must not be asked for [1].",
        "Whales sing.",
    ]
    assert [span.support for span in found] == ["supported", "partial", "contradicted", "unsupported"]
    assert grounding.faithful_spans == tuple(found[:2])
    assert grounding.hallucinated_spans == tuple(found[2:])
    assert grounding.grounder == "nli:tiny"
    assert grounding.token_labels == ()
    assert all(span.score > 0.5 for span in found)


async def test_sources_are_the_chunks_that_entail_or_deny(tiny: OpenTiny, hits: tuple[Hit, ...]) -> None:
    found = spans(await NliGrounder(tiny()).ground(ANSWER, hits))
    sources = [[source.chunk_id for source in span.sources] for span in found]
    leave, hotel = (hit.chunk.chunk_id for hit in hits)
    assert sources == [[leave], [hotel], [leave], []]
    assert found[0].sources[0].score == found[0].score
    assert found[2].sources[0].score == found[2].score


async def test_sources_are_sorted_and_each_chunk_is_one(tiny: OpenTiny) -> None:
    half = sample_hits(("Thirty days of leave are asked for.", *EVIDENCE, EVIDENCE[0]))
    grounding = await NliGrounder(tiny(), least_source=0.0).ground("Thirty days of leave are granted.", half)
    (span,) = grounding.faithful_spans
    scores = [source.score for source in span.sources]
    assert scores == sorted(scores, reverse=True)
    assert len({source.chunk_id for source in span.sources}) == len(span.sources) == 4


async def test_the_score_is_the_mean_of_sentences_by_length(tiny: OpenTiny, hits: tuple[Hit, ...]) -> None:
    answer = "Thirty days of leave are granted. Whales sing."
    grounding = await NliGrounder(tiny(meanings="e", config={"id2label": None})).ground(answer, hits)
    first, last = len("Thirty days of leave are granted."), len("Whales sing.")
    expected = (first * logistic(1.0) + last * logistic(1 / 3)) / (first + last)
    assert grounding.score == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("meanings", ["enc", "cne", "en", "ne", "e"])
async def test_all_kinds_of_labels_agree_on_what_is_held(
    tiny: OpenTiny, hits: tuple[Hit, ...], meanings: str
) -> None:
    names = {"en": ("entailment", "not_entailment"), "ne": ("hallucinated", "consistent")}.get(meanings)
    grounding = await NliGrounder(tiny(meanings=meanings, names=names)).ground(ANSWER, hits)
    first, *_, last = spans(grounding)
    assert (first.support, last.support) == ("supported", "unsupported")
    denied = [span for span in spans(grounding) if span.support == "contradicted"]
    assert len(denied) == ("c" in meanings)


async def test_a_model_like_hhem_is_asked_in_its_own_words(tiny: OpenTiny, hits: tuple[Hit, ...]) -> None:
    config = {"model_type": "HHEMv2Config", "architectures": ["HHEMv2ForSequenceClassification"]}
    classifier = tiny(hhem=True, meanings="ne", names=("hallucinated", "consistent"), config=config)
    grounding = await NliGrounder(classifier, Levels(0.9, 0.5)).ground(ANSWER, hits)
    assert [span.support for span in spans(grounding)] == ["supported", "partial", "partial", "unsupported"]


async def test_a_sentence_is_judged_alike_whatever_stands_beside_it(
    tiny: OpenTiny, hits: tuple[Hit, ...]
) -> None:
    grounder = NliGrounder(tiny())
    whole = spans(await grounder.ground(ANSWER, hits))
    for span in whole:
        (alone,) = spans(await grounder.ground(span.text, hits))
        assert alone.score == pytest.approx(span.score, abs=1e-5)
        assert (alone.support, len(alone.sources)) == (span.support, len(span.sources))
    shuffled = spans(await grounder.ground(ANSWER, hits[::-1]))
    assert [span.sources for span in shuffled] == [span.sources for span in whole]


@pytest.mark.parametrize("at", [0, 20, 39])
async def test_long_evidence_is_read_to_its_end(tiny: OpenTiny, at: int) -> None:
    sentences = ["The hotel costs 90 euros a night."] * 40
    sentences[at] = "Thirty days of leave are granted."
    (long,) = sample_hits((" ".join(sentences),))
    grounder = NliGrounder(tiny(max_length=64))
    assert grounder.classifier.tokenizer.count(long.chunk.text) > 300
    grounding = await grounder.ground("Thirty days of leave are granted.", (long,))
    assert [span.support for span in spans(grounding)] == ["supported"]


async def test_one_window_has_to_hold_the_whole_sentence(tiny: OpenTiny) -> None:
    filler = "The hotel costs 90 euros a night. " * 20
    (apart,) = sample_hits((f"Thirty days of. {filler} Leave are granted.",))
    grounding = await NliGrounder(tiny(max_length=64)).ground("Thirty days of leave are granted.", (apart,))
    assert [span.support for span in spans(grounding)] == ["unsupported"]


async def test_a_sentence_too_long_for_the_model_is_held_by_its_parts(tiny: OpenTiny) -> None:
    evidence = sample_hits((" ".join(EVIDENCE),))
    long = " ".join(["thirty days of leave are granted the hotel costs 90 euros a night"] * 8)
    grounder = NliGrounder(tiny(max_length=64))
    assert grounder.classifier.tokenizer.count(long) > 64
    held = await grounder.ground(f"{long}.", evidence)
    assert [span.support for span in spans(held)] == ["supported"]
    broken = await grounder.ground(f"{long} {'whales sing ' * 10}.", evidence)
    assert [span.support for span in spans(broken)] == ["unsupported"]


async def test_a_model_that_denies_what_it_does_not_speak_of_is_not_believed(tiny: OpenTiny) -> None:
    """The tiny model denies a "not" that the window lacks, whatever the window is about."""
    answer = "The hotel does not sing."
    grounding = await NliGrounder(tiny(), Levels(0.9, 0.5)).ground(
        answer, sample_hits(("The hotel is not sing.", "Whales sing.", "90 euros"))
    )
    (span,) = spans(grounding)
    assert span.support != "contradicted"


async def test_the_title_and_headings_count_as_evidence(tiny: OpenTiny) -> None:
    hit = sample_hit("Thirty days are granted.", source_id="a", title="Of leave")
    grounding = await NliGrounder(tiny()).ground("Thirty days of leave are granted.", (hit,))
    assert spans(grounding)[0].support == "supported"
    assert spans(grounding)[0].sources[0].chunk_id == hit.chunk.chunk_id


async def test_what_cannot_be_checked_has_no_score(tiny: OpenTiny, hits: tuple[Hit, ...]) -> None:
    grounder = NliGrounder(tiny())
    cases = ((" ", hits), ("Whales sing.", ()), ("Whales sing.", sample_hits((" ", ""))), ("# Leave", hits))
    for answer, evidence in cases:
        grounding = await grounder.ground(answer, evidence)
        assert (grounding.score, spans(grounding), bool(grounding.reason)) == (None, [], True)
        assert grounding.grounder == "nli:tiny"


@pytest.mark.parametrize(
    "answer",
    [
        "Ａe\u0301 \U0001f469\u200d\U0001f467 ثلاثون يوما. 三十天假期。Whales\u200b sing!",
        "\r\n- a\u2028b [1]\n\n| c | d |",
        "\ud800 leave.",
    ],
)
async def test_offsets_are_exact_in_odd_texts(tiny: OpenTiny, hits: tuple[Hit, ...], answer: str) -> None:
    found = spans(await NliGrounder(tiny()).ground(answer, hits))
    assert found
    assert all(answer[span.start : span.end] == span.text for span in found)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.one_of(st.characters(), st.sampled_from(" .!?\n[1]。-#|leave"))))
async def test_offsets_are_exact_in_random_texts(tiny: OpenTiny, hits: tuple[Hit, ...], answer: str) -> None:
    grounding = await NliGrounder(tiny()).ground(answer, hits)
    for span in spans(grounding):
        assert answer[span.start : span.end] == span.text
        assert 0.0 <= span.score <= 1.0
    assert grounding.score is None or 0.0 <= grounding.score <= 1.0
    assert (grounding.score is None) == bool(grounding.reason)


def test_levels_are_checked() -> None:
    with pytest.raises(InputError):
        Levels(0.2, 0.4)
