"""What a data set holds, counted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from refdesk.evaluation.datasets.cases import DataSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Counts of a data set."""

    name: str
    split: str
    digest: str
    facts: Mapping[str, str | int]
    cases: int
    answerable: int
    """Questions that the documents answer; for the others a refusal is right."""
    with_gold: int
    with_answers: int
    several_needs: int
    """Questions for which more than one thing has to be found."""
    alternatives: int
    """Questions with a need that more than one thing meets."""
    conversations: int
    """Questions with turns before them."""
    gold_documents: int
    """Distinct documents that gold names."""
    gold_spans: int
    """Distinct spans of documents."""
    documents: int
    """That the data set brings."""
    characters: int
    """In these documents."""
    tags: Mapping[str, int]
    languages: Mapping[str, int]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def overview(data: DataSet) -> Overview:
    """Count what a data set holds."""
    golds = [gold for case in data.cases for need in case.needs for gold in need.alternatives]
    several = [any(len(need.alternatives) > 1 for need in case.needs) for case in data.cases]
    return Overview(
        name=data.name,
        split=data.split,
        digest=data.digest,
        facts=dict(data.facts),
        cases=len(data.cases),
        answerable=sum(case.answerable for case in data.cases),
        with_gold=sum(bool(case.needs) for case in data.cases),
        with_answers=sum(bool(case.answers) for case in data.cases),
        several_needs=sum(len(case.needs) > 1 for case in data.cases),
        alternatives=sum(several),
        conversations=sum(bool(case.history) for case in data.cases),
        gold_documents=len({gold.document for gold in golds}),
        gold_spans=len({(gold.document, gold.quote, gold.start) for gold in golds if gold.quote}),
        documents=len(data.documents),
        characters=sum(len(one.text) for one in data.documents),
        tags=dict(Counter(tag for case in data.cases for tag in dict.fromkeys(case.tags)).most_common()),
        languages=dict(Counter(one.language for one in data.documents if one.language).most_common()),
        warnings=data.warnings,
    )
