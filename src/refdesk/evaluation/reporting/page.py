"""The report as one HTML page: its style and its script are in it, and nothing else runs or is fetched."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files

from refdesk import __version__
from refdesk.evaluation.reporting.cases import Asked, cases, gathered
from refdesk.evaluation.reporting.markup import Markup, element, shortened
from refdesk.evaluation.reporting.overview import overview
from refdesk.evaluation.reporting.pairs import compared, differences, trend
from refdesk.evaluation.reporting.sections import left_out, measures, tags
from refdesk.evaluation.reporting.summary import RunSummary, summarise, tag_measures
from refdesk.evaluation.reporting.tables import Section
from refdesk.evaluation.reporting.timing import abstention, latency, risk
from refdesk.evaluation.reporting.verdicts import criteria
from refdesk.evaluation.runs.outcomes import Run

CASES = 1000
"""Cases that a page holds where nothing else is said; more make it slow to open."""
COLUMNS = ("nDCG@10", "correctness", "faithfulness")
"""Measures of each case that its row shows."""


def render(runs: Sequence[Run], *, most: int = CASES) -> str:
    """Return a page about one run, or about several: two with their differences, more as a trend.

    Errors: `InputError` for runs that have no case in common.
    """
    good = criteria(runs)
    summaries = [summarise(run, good) for run in runs]
    comparisons = compared(runs) if len(runs) > 1 else []
    names = [one.header.name for one in summaries]
    parts = [
        overview(summaries),
        differences(comparisons[0]) if len(runs) == 2 and comparisons else None,
        trend(summaries, comparisons) if len(runs) > 2 else None,
        measures(summaries),
        left_out(summaries),
        tags(summaries),
        latency(runs, summaries),
        abstention(summaries),
        risk(summaries),
        *_cases(gathered(runs, good, comparisons), summaries, most),
    ]
    return _page(
        f"Evaluation: {', '.join(shortened(name, 60) for name in names)}",
        [one for one in parts if one is not None],
    )


def _cases(found: Sequence[Asked], summaries: Sequence[RunSummary], most: int) -> Iterator[Section | None]:
    """Yield the table of cases that changed and that of the others; of one run alone there is one table."""
    names = [one.header.name for one in summaries]
    known = tag_measures(row for one in summaries for row in one.measures)
    columns = [name for name in known if name.partition(".")[2] in COLUMNS]
    changed = [one for one in found if one.changed]
    others = [one for one in found if not one.changed]
    for title, anchor, part in (
        ("Cases that changed", "changed", changed),
        ("Cases that did not change" if len(names) > 1 else "Cases", "cases", others),
    ):
        shown = part[:most]
        most -= len(shown)
        yield cases(title, anchor, shown, names, columns, left=len(part) - len(shown))


def _page(title: str, parts: Sequence[Section]) -> str:
    style, script = _own("style.css"), _own("page.js")
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"refdesk {__version__}"),
        element("title", title[:300]),
        element("style", style),
    )
    body = element(
        "body",
        element("header", element("h1", element("bdi", title)), _contents(parts)),
        element("main", [one.drawn() for one in parts]),
        element("script", script),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _contents(parts: Sequence[Section]) -> Markup:
    links = [element("li", element("a", one.title, href=f"#{one.anchor}")) for one in parts]
    return element("nav", element("ul", links), aria_label="Contents")


def _own(name: str) -> Markup:
    return Markup((files("refdesk.evaluation.reporting") / name).read_text("utf-8"))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
