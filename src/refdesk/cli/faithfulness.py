"""`refdesk eval grounding`: how well a grounder tells faithful texts from unfaithful ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from refdesk.cli.progress import counting
from refdesk.cli.session import Session
from refdesk.cli.tables import table
from refdesk.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from refdesk.evaluation.calibrating.faithfulness import Case, FaithfulnessReport
    from refdesk.settings import Settings

Data = Annotated[
    str,
    typer.Option(
        "--data", metavar="DIR", help="Folder with JSON files of doc, summary, label and split (SummEdits)."
    ),
]
Grounder = Annotated[
    str, typer.Option("--grounder", metavar="NAME", help="local, lexical, judge or nli:FOLDER.")
]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, metavar="N", help="Judge only the first N texts of a domain, of each split."
    ),
]


async def grounding(session: Session, data: Data, grounder: Grounder = "local", limit: Limit = None) -> None:
    """Judge labelled texts by their documents: balanced accuracy of each domain, and the mean."""
    from refdesk.chunking import Chunker
    from refdesk.evaluation.calibrating.faithfulness import judge_cases, read_cases, report_on
    from refdesk.grounding.named import JUDGE
    from refdesk.llm.names import llm_for

    cases = _first(read_cases(data), limit)
    async with session.desk() as desk:
        embedder, model = await desk.services.embedder(), desk.settings.llm
        asked = llm_for(model, cache=_cache(desk.settings)) if model and grounder == JUDGE else None
        judge = await desk.services.grounder(grounder, asked)
        chunker = Chunker(embedder.count_tokens, embedder.max_tokens, desk.settings.chunk_tokens or None)
        with counting(session, len(cases)) as count:
            judged = await judge_cases(cases, judge, chunker, on_case=count)
    report = report_on(judged, data=data, grounder=getattr(judge, "name", grounder))
    if session.json:
        session.print_json(report.to_json())
    else:
        _show(session, report)


def _cache(settings: "Settings") -> Path | None:
    return Path(settings.cache) if settings.cache else None


def _first(cases: "tuple[Case, ...]", limit: int | None) -> "tuple[Case, ...]":
    if limit is None:
        return cases
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for case in cases:
        place = (case.domain, case.split)
        seen[place] = seen.get(place, 0) + 1
        if seen[place] <= limit:
            kept.append(case)
    return tuple(kept)


def _show(session: Session, report: "FaithfulnessReport") -> None:
    others = _published([one.domain for one in report.domains])
    rows: list[tuple[object, ...]] = [
        (
            one.domain,
            one.cases,
            _percent(one.by_levels),
            _percent(one.balanced_accuracy),
            "–" if one.auc is None else f"{one.auc:.3f}",
            *(f"{row[one.domain]:.1f}" for row in others.values()),
        )
        for one in report.domains
    ]
    means = (f"{sum(row.values()) / len(row):.1f}" for row in others.values())
    cases, mean_auc = sum(one.cases for one in report.domains), report.mean_auc
    area = "–" if mean_auc is None else f"{mean_auc:.3f}"
    ours = (_percent(report.mean_by_levels), _percent(report.mean), area)
    rows.append(("mean", cases, *ours, *means))
    table(session.out, ("domain", "texts", report.grounder, "fitted", "AUC", *others), rows)
    say(
        session.out,
        f"Balanced accuracy in percent on the split test. {report.grounder}: a text is faithful where "
        "nothing of it is called hallucinated. "
        f"fitted: where its weakest statement reaches {report.threshold:.3f}, "
        f"which parts the split evaluation best ({100 * report.tuned:.1f} there).",
    )
    if unchecked := sum(one.unchecked for one in report.domains):
        session.note(f"warning: {unchecked} texts could not be judged and are left out.")


def _published(domains: "Sequence[str]") -> dict[str, dict[str, float]]:
    """Return what is published for the same domains, by name; nothing where they are others."""
    from refdesk.evaluation.calibrating.faithfulness import DOMAINS, PUBLISHED

    if set(domains) != set(DOMAINS):
        return {}
    return {name: dict(zip(DOMAINS, row, strict=True)) for name, row in PUBLISHED.items()}


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
