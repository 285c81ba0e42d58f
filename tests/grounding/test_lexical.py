"""The grounder that needs no model."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.documents import Hit
from refdesk.grounding.levels import Levels
from refdesk.grounding.lexical import INLINE, LexicalGrounder
from refdesk.support import Grounding
from refdesk.testing.rerankers import sample_hit

pytestmark = pytest.mark.anyio

LEAVE = "Employees get thirty days of leave per year. Unused leave expires in March."
TRAVEL = "Trains are booked in second class. Flights need the approval of the head of department."


def hits_of(*texts: str) -> tuple[Hit, ...]:
    return tuple(sample_hit(text, source_id=f"{rank}.txt", rank=rank) for rank, text in enumerate(texts, 1))


async def judged(answer: str, *texts: str) -> Grounding:
    found = await LexicalGrounder().ground(answer, hits_of(*texts))
    assert_well_formed(found, answer)
    return found


def assert_well_formed(found: Grounding, answer: str) -> None:
    spans = sorted((*found.faithful_spans, *found.hallucinated_spans), key=lambda span: span.start)
    assert all(answer[span.start : span.end] == span.text for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(0 <= span.score <= 1 for span in spans)
    for span in spans:
        scores = [source.score for source in span.sources]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
        assert len({source.chunk_id for source in span.sources}) == len(scores)
    assert (found.score is None) == bool(found.reason)
    assert found.score is None or 0 <= found.score <= 1
    assert found.grounder == "lexical"


def texts(found: Grounding) -> tuple[list[str], list[str]]:
    return [span.text for span in found.faithful_spans], [span.text for span in found.hallucinated_spans]


async def test_what_stands_in_the_evidence_is_held() -> None:
    found = await judged(LEAVE, LEAVE, TRAVEL)
    assert found.score == 1.0
    assert found.hallucinated_spans == ()
    assert [span.sources[0].score for span in found.faithful_spans] == [1.0, 1.0]


async def test_three_kinds_of_sentences() -> None:
    held = "Employees get 30 days of leave per year [1]."
    wrong, invented = "Employees get 31 days of leave per year [1][2].", "Whales sing beautifully."
    found = await judged(f"{held} {wrong}\n\n- {invented}", LEAVE, TRAVEL)
    assert texts(found) == ([held], [wrong, invented])
    contradicted, made_up = found.hallucinated_spans
    assert contradicted.sources[0].chunk_id == hits_of(LEAVE)[0].chunk.chunk_id
    assert contradicted.sources[0].score > 0.5
    assert contradicted.score == 1.0
    assert made_up.sources == ()


async def test_long_sentences_count_for_more() -> None:
    short, long = "Whales sing.", "Employees get thirty days of leave per year."
    found = await judged(f"{long} {short}", LEAVE)
    [held], [lost] = found.faithful_spans, found.hallucinated_spans
    assert found.score == pytest.approx(held.score * len(long) / (len(long) + len(short)))
    assert lost.score == 1.0


async def test_a_name_that_no_evidence_has_is_not_held() -> None:
    found = await judged("Flights need the approval of the head of Siemens.", TRAVEL)
    assert len(found.hallucinated_spans) == 1
    assert found.hallucinated_spans[0].sources[0].score > 0.5


async def test_stop_words_hold_nothing() -> None:
    found = await judged("It is in the zoo and it has been there for some of the penguins.", LEAVE, TRAVEL)
    assert found.score == pytest.approx(0.0, abs=0.2)
    assert found.hallucinated_spans[0].sources == ()


async def test_markers_say_nothing() -> None:
    plain = await judged("Employees get 30 days of leave.", LEAVE)
    marked = await judged("Employees get 30 days of leave [99] [7, 8] [[5]].", LEAVE)
    assert plain.faithful_spans[0].score == marked.faithful_spans[0].score


@pytest.mark.parametrize(
    ("answer", "evidence", "reason"),
    [
        ("", (LEAVE,), "the answer is empty"),
        (" \n", (LEAVE,), "the answer is empty"),
        ("Thirty days.", (), "there is no evidence"),
        ("Thirty days.", ("", " \n"), "there is no evidence"),
        ("Yes.", (LEAVE,), "no sentence of the answer states anything"),
        ("[1] !? 👍", (LEAVE,), "no sentence of the answer states anything"),
        ("# Leave\n", (LEAVE,), "no sentence of the answer states anything"),
    ],
)
async def test_what_cannot_be_checked_has_no_score(
    answer: str, evidence: tuple[str, ...], reason: str
) -> None:
    found = await judged(answer, *evidence)
    assert (found.score, found.reason) == (None, reason)
    assert texts(found) == ([], [])


async def test_another_language_cannot_be_checked() -> None:
    answer = "Die Angestellten erhalten jedes Jahr dreißig bezahlte Urlaubstage von ihrem Arbeitgeber."
    found = await judged(answer, LEAVE, TRAVEL)
    assert (found.score, found.reason) == (None, "the answer is in 'de' and the evidence in 'en'")


@pytest.mark.parametrize(
    ("held", "lost", "evidence"),
    [
        ("图书馆九点开门。", "猫会飞。", "图书馆九点开门，六点关门。"),
        ("図書館は九時に開きます。", "鯨は歌います。", "図書館は九時に開きます。月曜日は休みです。"),
        ("Библиотека открывается в 9 часов.", "Киты поют песни.", "Библиотека открывается в 9 часов утра."),
        ("تفتح المكتبة الساعة ٩ صباحا.", "القطط تطير في السماء.", "تفتح المكتبة الساعة 9 صباحا كل يوم."),
        (
            "Die Bücherei öffnet um neun Uhr.",
            "Wale singen Lieder.",
            "Die Bücherei öffnet um neun Uhr morgens.",
        ),
        ("도서관은 아홉 시에 문을 엽니다.", "고래가 노래한다.", "도서관은 아홉 시에 문을 엽니다."),
    ],
)
async def test_every_script_is_read(held: str, lost: str, evidence: str) -> None:
    assert texts(await judged(f"{held} {lost}", evidence)) == ([held], [lost])


async def test_more_evidence_never_takes_support_away() -> None:
    one = await judged("Employees get 30 days of leave.", LEAVE)
    two = await judged("Employees get 30 days of leave.", LEAVE, TRAVEL)
    assert one.score is not None
    assert two.score is not None
    assert two.score >= one.score


async def test_a_chunk_that_comes_twice_is_one_source() -> None:
    hits = (*hits_of(LEAVE), *hits_of(LEAVE))
    found = await LexicalGrounder().ground("Unused leave expires in March.", hits)
    assert_well_formed(found, "Unused leave expires in March.")
    assert len(found.faithful_spans[0].sources) == 1


async def test_long_evidence_is_read_to_its_end() -> None:
    filler = "The river runs past quiet mills. " * (INLINE // 20)
    assert (await judged("Unused leave expires in March.", filler + LEAVE)).score == 1.0


async def test_the_threshold_is_an_option() -> None:
    answer = "Employees get thirty days of leave and many other wonderful gifts."
    strict, lax = (LexicalGrounder(levels=Levels(0.95, share)) for share in (0.9, 0.3))
    assert len((await strict.ground(answer, hits_of(LEAVE))).hallucinated_spans) == 1
    assert len((await lax.ground(answer, hits_of(LEAVE))).faithful_spans) == 1


PIECES = st.lists(
    st.sampled_from(
        [
            "Leave ",
            "30 ",
            "[1]",
            "[[2]]",
            ". ",
            "\n",
            "- ",
            "| a | b |\n",
            "März",
            "休暇。",
            "X200 ",
            "1,5",
            "🎉",
            "```\n",
            "\r\n",
        ]
    )
    | st.text(max_size=8),
    max_size=25,
).map("".join)


@given(PIECES, st.lists(PIECES, max_size=3))
async def test_spans_are_exact_whatever_is_written(answer: str, evidence: list[str]) -> None:
    await judged(answer, *evidence)


WORDS = (
    "leave",
    "Leave",
    "30",
    "1,000",
    "the",
    "X200",
    "März",
    "休暇",
    "Acme",
    "not",
    "e-mail",
    "Müller's",
    "5km",
    "WHO",
)


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=1, max_size=4))
async def test_a_text_is_held_by_itself(lines: list[list[str]]) -> None:
    text = "\n\n".join(" ".join(words) + " [1]." for words in lines)
    found = await judged(text, text.replace(" [1]", ""))
    assert found.hallucinated_spans == ()
    assert found.score is None or found.score == pytest.approx(1.0)
