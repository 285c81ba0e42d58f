"""The cases as tables: each a group of two rows, its figures and what opens below them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from refdesk.evaluation.comparing.changed import Change
from refdesk.evaluation.comparing.comparison import Comparison
from refdesk.evaluation.reporting.bars import COLOURS
from refdesk.evaluation.reporting.details import asked, of_run
from refdesk.evaluation.reporting.markup import Child, Markup, element, label
from refdesk.evaluation.reporting.numbers import duration, written
from refdesk.evaluation.reporting.tables import (
    Cell,
    Section,
    cell,
    folded,
    head,
    measure_heading,
    paragraph,
    scrolling,
    section,
)
from refdesk.evaluation.reporting.verdicts import SIGNS, WORDS, State, state_of
from refdesk.evaluation.runs.outcomes import CaseOutcome, Run

QUESTION = 160
TAG = 30
TAGS = 6
ORDER: Mapping[State, int] = {"error": 0, "wrong": 1, "unknown": 2, "right": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A case in all runs that asked it."""

    number: int
    outcomes: tuple[CaseOutcome | None, ...]
    """By run; None where a run did not ask it."""
    states: tuple[State | None, ...]
    changed: bool
    """Whether it went otherwise in another run, or is one of those whose figures differ most."""
    turned: int
    """Above 0 where it went better in the last run than in the first, below 0 where worse."""
    change: Change | None
    """What differs most in its figures, where it is one of those."""

    @property
    def gain(self) -> float:
        """By how much the last run is better; below 0 where it is worse."""
        return self.turned or (self.change.gain if self.change else 0.0)

    @property
    def known(self) -> CaseOutcome:
        return next(one for one in self.outcomes if one is not None)


def gathered(runs: Sequence[Run], measures: Sequence[str], comparisons: Sequence[Comparison]) -> list[Asked]:
    """Return all cases as they were asked, but those that changed first, what became worse before all."""
    names = dict.fromkeys(name for run in runs for name in run.outcomes)
    moved = {one.case_id: one for comparison in comparisons for one in comparison.changed}
    found = [
        _asked(number, [run.outcomes.get(name) for run in runs], measures, moved.get(name))
        for number, name in enumerate(names)
    ]
    return sorted(found, key=lambda one: (not one.changed, one.gain if one.changed else 0.0, one.number))


def _asked(
    number: int, outcomes: Sequence[CaseOutcome | None], measures: Sequence[str], change: Change | None
) -> Asked:
    states = tuple(None if one is None else state_of(one, measures) for one in outcomes)
    known = [ORDER[state] for state in states if state]
    return Asked(
        number=number,
        outcomes=tuple(outcomes),
        states=states,
        changed=change is not None or len(set(states)) > 1,
        turned=known[-1] - known[0],
        change=change,
    )


def cases(
    title: str,
    anchor: str,
    asked_cases: Sequence[Asked],
    names: Sequence[str],
    columns: Sequence[str],
    left: int,
) -> Section | None:
    """Return cases that can be sorted, filtered and opened; None where there are none.

    `columns` are the measures that are shown of each run, `left` counts cases that there is no room for.
    """
    more = f"{left:,} more cases are left out here for the size of the page; --json has all."
    note = paragraph(more, class_="note") if left else None
    if asked_cases:
        return section(anchor, title, note, *_table(anchor, asked_cases, names, columns))
    return section(anchor, title, note) if note else None


def _table(
    anchor: str, asked_cases: Sequence[Asked], names: Sequence[str], columns: Sequence[str]
) -> tuple[Markup, Markup]:
    """Return what filters, and the table."""
    tags = dict.fromkeys(tag for one in asked_cases for tag in one.known.tags)
    places = {tag: f"t{place}" for place, tag in enumerate(tags)}
    headings = [Cell("case"), Cell("question"), *_headings(names, columns)]
    groups = (_group(one, names, columns, places, width=len(headings)) for one in asked_cases)
    above = head(headings, _above(names, columns))
    drawn = element("table", above, groups, class_="cases sortable", id=f"{anchor}-table")
    return _controls(anchor, places), scrolling(drawn, "Cases")


def _above(names: Sequence[str], columns: Sequence[str]) -> list[Cell]:
    """Return the names of the runs over their columns; nothing for one run alone."""
    if len(names) == 1:
        return []
    keys = [element("span", class_=f"key k{place % COLOURS}") for place in range(len(names))]
    runs = [
        Cell([key, label(name, 40)], "first", columns=len(columns) + 2)
        for key, name in zip(keys, names, strict=True)
    ]
    return [Cell(None, columns=2), *runs]


def _headings(names: Sequence[str], columns: Sequence[str]) -> Iterator[Cell]:
    several = len(names) > 1
    for name in names:
        hidden = element("span", f" {name}", class_="hidden") if several else None
        yield Cell(["went", hidden], "first" if several else "")
        yield from (Cell([measure_heading(one), hidden], "number") for one in (*columns, "time"))


def _controls(anchor: str, places: Mapping[str, str]) -> Markup:
    """Return what filters; it is of use with the script only, which shows it."""

    def choice(name: str, title: str, options: Mapping[str, str]) -> Markup:
        chosen = [element("option", word, value=value) for value, word in options.items()]
        return element("label", f"{title} ", element("select", chosen, data_filter=name))

    states: dict[str, str] = {"": "all", **{state: f"{SIGNS[state]} {WORDS[state]}" for state in SIGNS}}
    tagged = {"": "all", **{place: tag[:80] for tag, place in places.items()}}
    return element(
        "form",
        element("label", "Text ", element("input", type="search", data_filter="text")),
        choice("state", "Went", states),
        choice("tag", "Tag", tagged) if places else None,
        element("button", "Open all shown", type="button", data_do="open"),
        element("button", "Close all", type="button", data_do="close"),
        element("output", class_="quiet", aria_live="polite"),
        class_="controls",
        hidden=True,
        data_for=f"{anchor}-table",
        aria_label="Filter the cases",
    )


def _group(
    one: Asked, names: Sequence[str], columns: Sequence[str], places: Mapping[str, str], *, width: int
) -> Markup:
    known, anchor = one.known, f"case-{one.number}"
    cells = [Cell(label(known.case_id, 24), key=known.case_id[:80]), Cell(_question(known), "asked")]
    for outcome, state in zip(one.outcomes, one.states, strict=True):
        cells += _cells(outcome, state, columns, several=len(names) > 1)
    detail = element("td", _details(one, names), colspan=width)
    return element(
        "tbody",
        element("tr", [cell(each, head=place == 0) for place, each in enumerate(cells)], class_="figures"),
        element("tr", detail, class_="more"),
        id=anchor,
        data_state=" ".join(dict.fromkeys(state for state in one.states if state)),
        data_tag=" ".join(places[tag] for tag in known.tags) or None,
    )


def _question(known: CaseOutcome) -> Child:
    tags = [[" ", element("span", label(tag, TAG), class_="tag")] for tag in known.tags[:TAGS]]
    more = element("small", f" +{len(known.tags) - TAGS}") if len(known.tags) > TAGS else None
    earlier = element("small", f" (after {len(known.history)} turns)") if known.history else None
    return [label(known.question, QUESTION), earlier, tags, more]


def _cells(
    outcome: CaseOutcome | None, state: State | None, columns: Sequence[str], *, several: bool
) -> Iterator[Cell]:
    if outcome is None or state is None:
        yield Cell("not asked", "quiet first", key=9)
        yield from (Cell("") for _ in (*columns, "time"))
        return
    word = element("span", f" {WORDS[state]}", class_="hidden")
    yield Cell(
        [element("span", SIGNS[state], class_=f"state {state}", title=WORDS[state]), word], key=ORDER[state]
    )
    for name in columns:
        value = outcome.measures.get(name)
        yield Cell("–" if value is None else written(name, value), "number", value)
    yield Cell(duration(outcome.seconds), "number", outcome.seconds)


def _details(one: Asked, names: Sequence[str]) -> Markup:
    runs = [
        of_run(outcome, state, name)
        for outcome, state, name in zip(one.outcomes, one.states, names, strict=True)
        if outcome is not None and state is not None
    ]
    moved = f"Differs most in {one.change.measure}: gain {one.change.gain:+.3f}" if one.change else ""
    return folded(
        ["Details of ", label(one.known.case_id, 60)],
        asked(one.known),
        paragraph(moved, class_="quiet") if moved else None,
        element("div", runs, class_="runs"),
    )
