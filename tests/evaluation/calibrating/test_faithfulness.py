"""Labelled pairs of document and text: reading them, judging them, and what is reported."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.chunking import Chunker
from refdesk.documents import Hit
from refdesk.errors import InputError
from refdesk.evaluation.calibrating.faithfulness import (
    DOMAINS,
    PUBLISHED,
    Case,
    Judged,
    area,
    balanced_accuracy,
    best_threshold,
    judge_cases,
    read_cases,
    report_on,
    weakest,
)
from refdesk.support import GroundedSpan, Grounding

DOCUMENT = "Employees get 30 days of leave a year."
Row = dict[str, Any]


def row(summary: str = "Thirty days.", label: object = 1, split: str = "test", **more: object) -> Row:
    return {"doc": DOCUMENT, "summary": summary, "label": label, "split": split, **more}


BOTH = [row(split="evaluation"), row(label=0, edit_types="number")]


def write(folder: Path, name: str, rows: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), "utf-8")
    return path


def test_every_file_of_the_form_is_a_domain(tmp_path: Path) -> None:
    write(tmp_path, "data/summedits_news.json", BOTH)
    write(tmp_path, "data/more/podcast.json", [row(label="0"), row(label=True)])
    write(tmp_path, "data/factcc.json", [{"doc": "x", "summary": "y", "samples": []}])
    write(tmp_path, "settings.json", {"label": 1})
    write(tmp_path, "numbers.json", [1, 2])
    write(tmp_path, "nothing.json", [])
    (tmp_path / "README.md").write_text("# Not JSON")
    cases = read_cases(str(tmp_path))
    assert [(case.domain, case.split, case.faithful) for case in cases] == [
        ("podcast", "test", False),
        ("podcast", "test", True),
        ("news", "evaluation", True),
        ("news", "test", False),
    ]
    assert cases[0].document == DOCUMENT


def test_other_splits_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "a.json", [*BOTH, row(split="train")])
    assert len(read_cases(str(tmp_path))) == 2


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no folder") as caught:
        read_cases(str(tmp_path / "absent"))
    assert "doc, summary, label" in caught.value.remedy
    with pytest.raises(InputError, match="There is no folder"):
        read_cases(str(write(tmp_path, "a.json", BOTH)))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "has no labelled pairs; it lacks 'evaluation' and 'test'"),
        ([row()], "has the splits 'test'; it lacks 'evaluation'"),
        ([row(split="evaluation"), row(split="dev")], "has the splits 'dev', 'evaluation'; it lacks 'test'"),
    ],
)
def test_both_splits_are_needed(tmp_path: Path, rows: list[Row], said: str) -> None:
    write(tmp_path, "a.json", rows)
    with pytest.raises(InputError) as caught:
        read_cases(str(tmp_path))
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("text", "is no object: 'text'"),
        ({"label": 1}, "lacks 'doc', 'summary', 'split'"),
        (row(label="yes"), "has the label 'yes'; allowed are 1 and 0"),
        (row(label=2), "has the label 2; allowed are 1 and 0"),
        (row(label=None), "has the label None"),
        (row(label=[1]), "has the label [1]"),
        (row() | {"doc": None}, "has None as 'doc'"),
        (row() | {"split": 1}, "has 1 as 'split'"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, bad: object, said: str) -> None:
    path = write(tmp_path, "a.json", [*BOTH, bad])
    with pytest.raises(InputError) as caught:
        read_cases(str(tmp_path))
    assert caught.value.message.startswith(f"Row 3 of {str(path)!r} {said}")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe\x00", b""])
def test_a_file_that_is_no_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.json' cannot be read as JSON"):
        read_cases(str(tmp_path))


def test_a_byte_order_mark_is_read_past(tmp_path: Path) -> None:
    write(tmp_path, "a.json", BOTH)
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_cases(str(tmp_path))) == 2


def span(score: float, start: int = 0) -> GroundedSpan:
    return GroundedSpan(text="x", start=start, end=start + 1, score=score)


def test_the_weakest_statement_decides() -> None:
    assert weakest(Grounding(score=None, reason="empty")) is None
    assert weakest(Grounding(score=0.7)) == 0.7
    held, wrong = (span(0.9), span(0.6, 2)), (span(0.8, 4),)
    assert weakest(Grounding(score=0.7, faithful_spans=held)) == 0.6
    mixed = Grounding(score=0.7, faithful_spans=held, hallucinated_spans=wrong)
    assert weakest(mixed) == pytest.approx(0.2)


class Words:
    """Holds an answer by the share of its words; cannot judge what is not there."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding:
        self.asked.append((answer, len(hits)))
        if not answer or not hits:
            return Grounding(score=None, reason="nothing")
        known = {word for hit in hits for word in hit.chunk.text.split()}
        words = answer.split()
        score = sum(word in known for word in words) / len(words)
        wrong = () if score == 1 else (span(1 - score),)
        return Grounding(score=score, hallucinated_spans=wrong)


@pytest.mark.anyio
async def test_texts_are_judged_by_all_chunks_of_their_document() -> None:
    long = " ".join(f"Sentence number {number} is here." for number in range(200)) + " Whales sing."
    cases = [
        Case("a", long, "Whales sing.", True, "test"),
        Case("a", long, "Penguins sing.", False, "test"),
        Case("b", DOCUMENT, "", False, "test"),
        Case("b", "", "Whales sing.", False, "test"),
    ]
    words, told = Words(), list[str]()
    chunker = Chunker(lambda text: len(text.split()), 50)
    judged = await judge_cases(cases, words, chunker, on_case=told.append)
    assert [one.score for one in judged] == [1.0, 0.5, None, None]
    assert [one.held for one in judged[:2]] == [True, False]
    assert [one.case for one in judged] == cases
    assert told == ["a", "a", "b", "b"]
    assert words.asked[0][1] > 10
    assert [count for _, count in words.asked[2:]] == [1, 0]


def judged(score: float | None, faithful: bool, domain: str = "a", split: str = "test") -> Judged:
    return Judged(Case(domain, DOCUMENT, "x", faithful, split), score)


TUNED = [judged(0.6, True, split="evaluation"), judged(0.4, False, split="evaluation")]


def test_the_threshold_of_one_split_is_used_on_the_other() -> None:
    measured = [judged(0.6, True), judged(0.59, True), judged(0.59, False), judged(0.1, False)]
    report = report_on([*TUNED, *measured], data="folder", grounder="mine")
    [domain] = report.domains
    assert (report.data, report.grounder, report.threshold, report.tuned) == ("folder", "mine", 0.6, 1.0)
    assert (domain.domain, domain.cases, domain.faithful, domain.unchecked) == ("a", 4, 2, 0)
    assert domain.balanced_accuracy == 0.75
    assert domain.auc == 0.875


def test_what_the_grounder_itself_calls_faithful_is_measured_beside() -> None:
    measured = [
        replace(judged(0.9, True), held=True),
        replace(judged(0.9, False), held=True),
        judged(0.3, True),
        judged(0.2, False),
        replace(judged(None, True), held=True),
    ]
    report = report_on([*TUNED, *measured], data="", grounder="")
    assert report.domains[0].by_levels == report.mean_by_levels == 0.5
    better = [replace(judged(0.1, True), held=True), judged(0.9, False)]
    assert report_on([*TUNED, *better], data="", grounder="").mean_by_levels == 1.0


def test_what_was_not_checked_is_counted_and_in_no_figure() -> None:
    measured = [judged(0.9, True), judged(0.1, False), judged(None, True), judged(None, False)]
    unchecked = [judged(None, True, split="evaluation")]
    [domain] = report_on([*TUNED, *unchecked, *measured], data="", grounder="").domains
    assert (domain.cases, domain.unchecked, domain.balanced_accuracy, domain.auc) == (2, 2, 1.0, 1.0)


def test_a_domain_without_both_labels_cannot_be_measured() -> None:
    measured = [
        judged(0.9, True),
        judged(0.1, False),
        judged(0.9, True, "b"),
        judged(0.8, True, "b"),
        judged(None, False, "b"),
        judged(None, False, "c"),
    ]
    report = report_on(
        [*TUNED, judged(0.5, True, "only tuned", "evaluation"), *measured], data="", grounder=""
    )
    assert [(one.domain, one.cases, one.balanced_accuracy, one.auc) for one in report.domains] == [
        ("a", 2, 1.0, 1.0),
        ("b", 2, None, None),
        ("c", 0, None, None),
    ]
    assert (report.mean, report.mean_auc) == (1.0, 1.0)
    assert json.loads(json.dumps(report.to_json()))["domains"][1]["auc"] is None
    nothing = replace(report, domains=report.domains[1:])
    assert (nothing.mean, nothing.mean_auc, nothing.mean_by_levels) == (None, None, None)


@pytest.mark.parametrize(
    "tuned",
    [
        [],
        [judged(0.5, True, split="evaluation")],
        [judged(0.5, True, split="evaluation"), judged(None, False, split="evaluation")],
    ],
)
def test_without_both_labels_no_threshold_is_fitted(tuned: list[Judged]) -> None:
    with pytest.raises(InputError, match="no threshold can be fitted"):
        report_on([*tuned, judged(0.9, True), judged(0.1, False)], data="", grounder="")


PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1), st.booleans()), max_size=20
)


@given(PAIRS)
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs: list[tuple[float, bool]]) -> None:
    held = [score for score, label in pairs if label]
    wrong = [score for score, label in pairs if not label]
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in held for b in wrong]
    assert area(pairs) == pytest.approx(sum(wins) / len(wins) if wins else 0.5)


@given(PAIRS, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_balanced_accuracy_is_the_mean_of_both_labels(
    pairs: list[tuple[float, bool]], threshold: float
) -> None:
    right = {True: [0, 0], False: [0, 0]}
    for score, label in pairs:
        right[label][0] += (score >= threshold) is label
        right[label][1] += 1
    shares = [hit / count if count else 0.5 for hit, count in right.values()]
    assert balanced_accuracy(pairs, threshold) == pytest.approx(sum(shares) / 2)


@given(PAIRS.filter(bool))
def test_no_score_parts_better_than_the_threshold(pairs: list[tuple[float, bool]]) -> None:
    found = best_threshold(pairs)
    best = balanced_accuracy(pairs, found)
    assert all(balanced_accuracy(pairs, score) <= best for score, _ in pairs)
    assert all(balanced_accuracy(pairs, score) < best for score, _ in pairs if score < found)


def test_published_figures_have_the_means_that_are_published() -> None:
    means = {name: round(sum(row) / len(DOMAINS), 1) for name, row in PUBLISHED.items()}
    assert means == {"human": 90.6, "GPT-4": 83.2, "ChatGPT": 72.5, "QAFactEval": 67.4, "SummaC-Conv": 57.1}
