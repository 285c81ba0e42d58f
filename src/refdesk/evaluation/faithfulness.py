"""How well a grounder tells faithful texts from unfaithful ones, on labelled pairs of document and text."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from refdesk.chunking import Chunker
from refdesk.context import Grounding
from refdesk.documents import Document, Hit
from refdesk.errors import InputError
from refdesk.grounding import Grounder

TUNED_ON, MEASURED_ON = "evaluation", "test"
"""Splits: the threshold is fitted on the one and used on the other."""
FORM = "objects with doc, summary, label (1 for faithful) and split (evaluation or test)"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainReport:
    """One domain of a data set."""

    domain: str
    cases: int
    faithful: int
    unchecked: int
    """Cases that the grounder could not judge; they are in no figure."""
    balanced_accuracy: float
    """Mean of the shares of faithful and of unfaithful texts that were told right, 0 to 1."""
    auc: float
    """Probability that a faithful text scores higher than an unfaithful one."""


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
    def mean(self) -> float:
        return sum(one.balanced_accuracy for one in self.domains) / len(self.domains)

    @property
    def mean_auc(self) -> float:
        return sum(one.auc for one in self.domains) / len(self.domains)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "mean": self.mean, "mean_auc": self.mean_auc}


def read_cases(folder: str) -> tuple[Case, ...]:
    """Read every JSON file below a folder that holds labelled pairs, as SummEdits has them.

    The domain is the last part of a file's name. Errors: `InputError` with what is wrong and where.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(f"There is no folder {folder!r}.", remedy=f"Name one with JSON files of {FORM}.")
    cases = tuple(case for path in sorted(root.rglob("*.json")) for case in _of_file(path))
    splits = {case.split for case in cases}
    if not {TUNED_ON, MEASURED_ON} <= splits:
        raise InputError(
            f"{folder!r} has the splits {sorted(splits)}; {TUNED_ON!r} and {MEASURED_ON!r} are needed.",
            remedy=f"Name a folder with JSON files of {FORM}.",
        )
    return cases


def _of_file(path: Path) -> Iterator[Case]:
    try:
        rows = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}.") from error
    if not isinstance(rows, list) or not rows or not {"doc", "summary", "label", "split"} <= rows[0].keys():
        return
    domain = path.stem.removeprefix("summedits_")
    for number, row in enumerate(rows, 1):
        try:
            yield Case(domain, row["doc"], row["summary"], bool(int(row["label"])), row["split"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"Row {number} of {str(path)!r} is no {FORM}: {error!r}.") from error


async def judge_cases(
    cases: Sequence[Case], grounder: Grounder, chunker: Chunker, *, on_case: Callable[[str], None]
) -> tuple[Judged, ...]:
    """Judge every case by the chunks of its document."""
    documents: dict[str, tuple[Hit, ...]] = {}
    judged = []
    for case in cases:
        if case.document not in documents:
            documents[case.document] = _hits(case, chunker)
        grounding = await grounder.ground(case.text, documents[case.document])
        judged.append(Judged(case, weakest(grounding)))
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
    """Fit the threshold on one split and measure on the other, domain by domain."""
    tuned = _pairs(judged, TUNED_ON)
    threshold = best_threshold(tuned)
    domains = dict.fromkeys(one.case.domain for one in judged)
    reports = []
    for domain in domains:
        of_it = [one for one in judged if one.case.domain == domain]
        pairs = _pairs(of_it, MEASURED_ON)
        reports.append(
            DomainReport(
                domain=domain,
                cases=len(pairs),
                faithful=sum(label for _, label in pairs),
                unchecked=sum(one.score is None and one.case.split == MEASURED_ON for one in of_it),
                balanced_accuracy=balanced_accuracy(pairs, threshold),
                auc=area(pairs),
            )
        )
    return FaithfulnessReport(
        data=data,
        grounder=grounder,
        threshold=threshold,
        tuned=balanced_accuracy(tuned, threshold),
        domains=tuple(reports),
    )


Pairs = Sequence[tuple[float, bool]]


def _pairs(judged: Sequence[Judged], split: str) -> Pairs:
    return [
        (one.score, one.case.faithful) for one in judged if one.case.split == split and one.score is not None
    ]


def balanced_accuracy(pairs: Pairs, threshold: float) -> float:
    """Return the mean accuracy on both labels, scores from the threshold on counting as faithful."""
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
    """Return the area under the ROC curve: ties count half (Mann and Whitney 1947)."""
    held = [score for score, label in pairs if label]
    wrong = [score for score, label in pairs if not label]
    if not held or not wrong:
        return 0.5
    wins = sum((one > other) + 0.5 * (one == other) for one in held for other in wrong)
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
