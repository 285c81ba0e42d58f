"""How well a grounder tells faithful texts from unfaithful ones, on labelled pairs of document and text."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio.lowlevel

from refdesk.chunking import Chunker
from refdesk.documents import Document, Hit
from refdesk.errors import InputError
from refdesk.grounding import Grounder
from refdesk.support import Grounding

TUNED_ON, MEASURED_ON = "evaluation", "test"
"""Splits: the threshold is fitted on the one and used on the other."""
FORM = "list of objects with doc, summary, label (1 for faithful, else 0) and split (evaluation or test)"
REMEDY = f"Name a folder whose JSON files are each a {FORM}."
_KEYS = ("doc", "summary", "label", "split")


@dataclass(frozen=True, slots=True)
class Case:
    """A text, the document that it is about, and whether all of it is in there."""

    domain: str
    document: str
    text: str
    faithful: bool
    split: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and how far its weakest statement is held, None where the grounder could not tell."""

    case: Case
    score: float | None
    held: bool = False
    """Whether no statement of it is hallucinated, by the grounder's own levels."""
    grounder: str = ""
    """What judged it: `local` leaves texts in other languages to `lexical`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainReport:
    """One domain of a data set, on the split `test`."""

    domain: str
    cases: int
    """That were judged."""
    faithful: int
    """Of them."""
    unchecked: int
    """Cases that the grounder could not judge; they are in no figure."""
    balanced_accuracy: float | None
    """Mean of the shares of faithful and of other texts that were told right, 0 to 1; None without both."""
    by_levels: float | None
    """The same where a text is faithful if the grounder calls nothing of it hallucinated."""
    auc: float | None
    """Probability that a faithful text scores higher than an unfaithful one; None without both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessReport:
    """A data set, judged by one grounder."""

    data: str
    grounder: str
    threshold: float
    """Fitted on the split `evaluation`."""
    tuned: float
    """Balanced accuracy there."""
    domains: tuple[DomainReport, ...]

    @property
    def mean(self) -> float | None:
        """Balanced accuracy, the mean of the domains; None where none could be measured."""
        return _mean(one.balanced_accuracy for one in self.domains)

    @property
    def mean_by_levels(self) -> float | None:
        return _mean(one.by_levels for one in self.domains)

    @property
    def mean_auc(self) -> float | None:
        return _mean(one.auc for one in self.domains)

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "mean": self.mean,
            "mean_by_levels": self.mean_by_levels,
            "mean_auc": self.mean_auc,
        }


def _mean(figures: Iterable[float | None]) -> float | None:
    known = [one for one in figures if one is not None]
    return sum(known) / len(known) if known else None


def read_cases(folder: str) -> tuple[Case, ...]:
    """Read every JSON file below a folder that holds labelled pairs, as SummEdits has them.

    The domain is the last part of a file's name. Files of another form and rows of other splits are passed
    over. Errors: `InputError` with what is wrong and where.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"There is no folder {folder!r}.", remedy=REMEDY)
    cases = [case for path in sorted(root.rglob("*.json")) for case in _of_file(path)]
    splits = {case.split for case in cases}
    if lacking := [split for split in (TUNED_ON, MEASURED_ON) if split not in splits]:
        found = (
            f"has the splits {', '.join(map(repr, sorted(splits)))}" if splits else "has no labelled pairs"
        )
        raise InputError(f"{folder!r} {found}; it lacks {' and '.join(map(repr, lacking))}.", remedy=REMEDY)
    return tuple(case for case in cases if case.split in (TUNED_ON, MEASURED_ON))


def _of_file(path: Path) -> Iterator[Case]:
    try:
        rows = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} cannot be read as JSON: {error}.", remedy=REMEDY) from error
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict) or "label" not in rows[0]:
        return
    domain = path.stem.removeprefix("summedits_")
    for number, row in enumerate(rows, 1):
        if problem := row_problem(row):
            raise InputError(f"Row {number} of {str(path)!r} {problem}.", remedy=f"The form is a {FORM}.")
        label = bool(int(row["label"]))
        yield Case(domain, row["doc"], row["summary"], label, row["split"])


def row_problem(row: Any) -> str:
    """Return what is wrong with a row, empty where nothing is."""
    if not isinstance(row, dict):
        return f"is no object: {row!r:.40}"
    if lacking := [name for name in _KEYS if name not in row]:
        return f"lacks {', '.join(map(repr, lacking))}"
    if wrong := [name for name in ("doc", "summary", "split") if not isinstance(row[name], str)]:
        return f"has {row[wrong[0]]!r:.40} as {wrong[0]!r}, which is no text"
    if row["label"] not in (0, 1, "0", "1"):
        return f"has the label {row['label']!r:.40}; allowed are 1 and 0"
    return ""


async def judge_cases(
    cases: Sequence[Case], grounder: Grounder, chunker: Chunker, *, on_case: Callable[[str], None]
) -> tuple[Judged, ...]:
    """Judge every case by the chunks of its document. Errors: those of the grounder."""
    documents: dict[str, tuple[Hit, ...]] = {}
    judged = []
    for case in cases:
        if case.document not in documents:
            documents[case.document] = _hits(case, chunker)
        grounding = await grounder.ground(case.text, documents[case.document])
        await anyio.lowlevel.checkpoint()  # a grounder that never waits could not be broken off
        held = not grounding.hallucinated_spans
        judged.append(Judged(case, weakest(grounding), held, grounding.grounder))
        on_case(case.domain)
    return tuple(judged)


def weakest(grounding: Grounding) -> float | None:
    """Return how far the least supported statement is held, None where nothing was checked."""
    if grounding.score is None:
        return None
    held = [span.score for span in grounding.faithful_spans]
    wrong = [1.0 - span.score for span in grounding.hallucinated_spans]
    return min([*held, *wrong], default=grounding.score)


def _hits(case: Case, chunker: Chunker) -> tuple[Hit, ...]:
    document = Document(collection="evaluation", source_id="document", title="", text=case.document)
    return tuple(
        Hit(chunk=chunk, title="", url=None, source_id="document") for chunk in chunker.chunks(document)
    )


def report_on(judged: Sequence[Judged], *, data: str, grounder: str) -> FaithfulnessReport:
    """Fit the threshold on one split and measure on the other, domain by domain.

    Errors: `InputError` where too few texts could be judged to fit one.
    """
    tuned = _pairs(judged, TUNED_ON)
    if not _both(tuned):
        held = sum(label for _, label in tuned)
        raise InputError(
            f"Of the split {TUNED_ON!r}, {held} faithful and {len(tuned) - held} other texts were judged; no "
            "threshold can be fitted.",
            remedy="Give some of both, which the grounder can judge.",
        )
    threshold = best_threshold(tuned)
    return FaithfulnessReport(
        data=data,
        grounder=grounder,
        threshold=threshold,
        tuned=balanced_accuracy(tuned, threshold),
        domains=tuple(
            _domain(name, [one for one in judged if one.case.domain == name], threshold)
            for name in dict.fromkeys(one.case.domain for one in judged if one.case.split == MEASURED_ON)
        ),
    )


def _domain(name: str, judged: Sequence[Judged], threshold: float) -> DomainReport:
    pairs = _pairs(judged, MEASURED_ON)
    return DomainReport(
        domain=name,
        cases=len(pairs),
        faithful=sum(label for _, label in pairs),
        unchecked=sum(one.case.split == MEASURED_ON for one in judged) - len(pairs),
        balanced_accuracy=balanced_accuracy(pairs, threshold) if _both(pairs) else None,
        by_levels=balanced_accuracy(_levels(judged), 0.5) if _both(pairs) else None,
        auc=area(pairs) if _both(pairs) else None,
    )


Pairs = Sequence[tuple[float, bool]]


def _pairs(judged: Sequence[Judged], split: str) -> Pairs:
    return [
        (one.score, one.case.faithful) for one in judged if one.case.split == split and one.score is not None
    ]


def _levels(judged: Sequence[Judged]) -> Pairs:
    """Return for each text that was measured whether nothing of it is hallucinated, as 1 or 0."""
    measured = (one for one in judged if one.case.split == MEASURED_ON and one.score is not None)
    return [(float(one.held), one.case.faithful) for one in measured]


def _both(pairs: Pairs) -> bool:
    return len({label for _, label in pairs}) == 2


def balanced_accuracy(pairs: Pairs, threshold: float) -> float:
    """Return the mean accuracy on both labels, scores from the threshold on counting as faithful.

    A label that no text has counts as half right, as by chance.
    """
    shares = []
    for wanted in (True, False):
        right = [(score >= threshold) == wanted for score, label in pairs if label == wanted]
        shares.append(sum(right) / len(right) if right else 0.5)
    return sum(shares) / 2


def best_threshold(pairs: Pairs) -> float:
    """Return the score that parts the labels best; the lowest of those that do so equally well."""
    scores = sorted({score for score, _ in pairs})
    return max(scores, key=lambda score: balanced_accuracy(pairs, score), default=0.5)


def area(pairs: Pairs) -> float:
    """Return the area under the ROC curve: ties count half (Mann and Whitney 1947). Chance without both."""
    held = [score for score, label in pairs if label]
    wrong = sorted(score for score, label in pairs if not label)
    if not held or not wrong:
        return 0.5
    wins = sum((bisect_left(wrong, one) + bisect_right(wrong, one)) / 2 for one in held)
    return wins / (len(held) * len(wrong))


PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "human": (90.8, 89.4, 90.0, 91.8, 87.4, 89.3, 90.7, 95.4),
    "GPT-4": (82.7, 83.1, 83.3, 87.9, 79.5, 82.4, 79.6, 87.0),
    "ChatGPT": (68.4, 69.1, 74.4, 79.4, 65.5, 75.6, 69.2, 78.6),
    "QAFactEval": (63.7, 66.2, 74.4, 68.4, 63.6, 67.5, 62.4, 72.6),
    "SummaC-Conv": (58.1, 53.1, 61.9, 59.0, 53.7, 59.7, 53.5, 57.9),
}
"""Balanced accuracy in percent on SummEdits (Laban et al., EMNLP 2023), as its authors list it."""
DOMAINS = ("podcast", "samsum", "news", "sales_call", "sales_email", "scitldr", "qmsumm", "ectsum")
"""In the order of `PUBLISHED`."""
