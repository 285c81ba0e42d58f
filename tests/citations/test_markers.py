"""Markers of a text to those of its evidence."""

from refdesk.citations.build import cite
from refdesk.citations.markers import marked, unmarked
from refdesk.citations.sentences import Span
from refdesk.context import Answer
from refdesk.documents import Chunk, Hit
from refdesk.evidence import number_hits


def hit(name: str) -> Hit:
    chunk = Chunk(
        chunk_id=name, document_id=name, collection="c", position=0, start=0, end=len(name), text=name
    )
    return Hit(chunk=chunk, title=name, url=None, source_id=name)


EVIDENCE = number_hits([hit("a"), hit("b"), hit("c")])
ANSWER = Answer(
    question="?",
    text="C [1], A [2].",
    citations=(
        cite(1, hit("c"), Span(0, 1)),
        cite(2, hit("a"), Span(0, 1)),
        cite(3, hit("gone"), Span(0, 4)),
    ),
)


def test_numbers_of_evidence_take_the_place_of_markers() -> None:
    assert marked(ANSWER.text, ANSWER, EVIDENCE) == "C [[3]], A [[1]]."
    assert marked("[1][2]", ANSWER, EVIDENCE) == "[[3]][[1]]"


def test_a_marker_of_several_chunks_names_them_all() -> None:
    citations = tuple(cite(marker, hit(name), Span(0, 1)) for marker, name in ((1, "c"), (1, "a"), (1, "c")))
    answer = Answer(question="?", text="Both [1].", citations=citations)
    assert marked(answer.text, answer, EVIDENCE) == "Both [[3]][[1]]."


CODE = "`x[1]` and\n```py\ny[1]\n```\n[1]"


def test_code_is_no_place_for_markers() -> None:
    assert marked(CODE, ANSWER, EVIDENCE) == CODE.removesuffix("[1]") + "[[3]]"
    assert unmarked(CODE) == CODE.removesuffix("\n[1]")
    assert unmarked("```\nopen [1]") == "```\nopen [1]"


def test_what_is_no_marker_of_the_answer_stays() -> None:
    for text in ("D [4].", "Gone [3].", "[[1]] and [[2]]", "[a]", "[12345]", ""):
        assert marked(text, ANSWER, EVIDENCE) == text


def test_markers_go_with_the_space_before_them() -> None:
    assert unmarked("C [1], A [2][3]. [a] [[1]]") == "C, A. [a]"
