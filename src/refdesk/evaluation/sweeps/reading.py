"""Sweep files: read, and checked as a whole before anything runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from refdesk.errors import InputError, Problem, RefdeskError
from refdesk.evaluation.searching.finders import finding
from refdesk.evaluation.sweeps.candidates import STRATEGIES, Candidate, Strategy, candidates, grid_size
from refdesk.evaluation.sweeps.factors import Base, Factor, base_values, setup, shadowed, wrong_values
from refdesk.evaluation.sweeps.form import Form, faulty
from refdesk.evaluation.sweeps.objectives import asks_of, unknown_objective
from refdesk.settings import Settings
from refdesk.yamlvalues import Unreadable, Value, as_value, read

BASE_KEYS = ("pipeline", "settings", "judge")
BUDGET = ("runs", "seconds", "dollars")
MOST = 500
"""Configurations that a sweep tries without a budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a sweep may cost, None for no limit; where it is spent, what was asked is kept."""

    runs: int | None = None
    seconds: float | None = None
    dollars: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep that can run."""

    name: str
    data: str
    split: str = ""
    """Empty for the one that the data set's layout takes."""
    collection: str = ""
    """Empty for `eval-` and the name of data that brings documents, else the settings' one."""
    objective: str
    base: Base
    factors: tuple[Factor, ...]
    strategy: Strategy = "one_at_a_time"
    budget: Budget = field(default_factory=Budget)
    every: int = 1
    """Take every so-many-th question, so that the others stay for a test."""
    sample: int | None = None
    """Ask at most so many, drawn by chance."""
    race: int | None = None
    """After so many questions, drop configurations that are clearly below the best; None to keep all."""
    seed: int = 0

    def candidates(self) -> tuple[Candidate, ...]:
        """Return the configurations to try, the base first."""
        values = base_values(self.base, self.factors)
        return candidates(self.factors, values, strategy=self.strategy, most=self.budget.runs, seed=self.seed)


def read_sweep(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    settings: Settings | None = None,
    data: str = "",
    budget: Mapping[str, float] | None = None,
) -> Sweep:
    """Read a sweep from a file or a mapping; `data` and `budget` replace what it says.

    Paths in a file are relative to its folder. `settings` are those that `base.settings` change, by default
    those in force here. Errors: `InputError` with everything that is wrong.
    """
    name, folder, value = _read(source)
    problems: list[Problem] = []
    form = Form(value, problems)
    given = form.values()
    base = _base(form, settings or Settings.load(), folder)
    factors = _factors(form, base)
    sweep = Sweep(
        name=given.get("name") or name,
        data=data or str(folder / given.get("data", "")),
        split=given.get("split", ""),
        collection=given.get("collection", ""),
        objective=given.get("objective", ""),
        base=base,
        factors=factors,
        strategy=given.get("strategy", STRATEGIES[0]),
        budget=_budget(form, budget or {}),
        every=given.get("every", 1),
        sample=given.get("sample"),
        race=given.get("race"),
        seed=given.get("seed", 0),
    )
    if "data" not in given and not data:
        form.wrong("It names no data.", "Write `data: FOLDER`, a data set with known answers.")
    if sweep.objective and (hint := unknown_objective(sweep.objective)):
        form.wrong(f"Its objective is {sweep.objective!r}.", hint, form.top["objective"].line)
    if not problems:
        problems += _as_a_whole(sweep)
    if problems:
        raise faulty(name, problems)
    return sweep


def _read(source: str | PathLike[str] | Mapping[str, Any]) -> tuple[str, Path, Value]:
    if isinstance(source, Mapping):
        return str(source.get("name", "sweep")), Path(), as_value(source)
    path = Path(fspath(source))
    try:
        return path.stem, path.parent, read(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"The sweep file {str(path)!r} cannot be read: {error}.") from error
    except Unreadable as error:
        raise faulty(path.stem, [error.problem]) from error


def _base(form: Form, own: Settings, folder: Path) -> Base:
    inner = form.inner("base")
    for key in inner.keys() - BASE_KEYS:
        form.wrong(f"Its base has the key {key!r}.", f"Known: {', '.join(BASE_KEYS)}.", inner[key].line)
    texts = {key: inner[key] for key in ("pipeline", "judge") if key in inner}
    for key, value in texts.items():
        if not isinstance(value.data, str):
            form.wrong(f"The {key} of its base is {value.plain!r:.60}.", "Write a name.", value.line)
    named = {key: value.data for key, value in texts.items() if isinstance(value.data, str)}
    base = Base(own=own, settings=_settings(form, inner.get("settings"), own), folder=folder, **named)
    try:
        base.loaded()
    except RefdeskError as error:
        form.wrong(error.message, error.remedy, texts["pipeline"].line if "pipeline" in texts else 0)
        return replace(base, pipeline="default")
    return base


def _settings(form: Form, given: Value | None, settings: Settings) -> Settings:
    if given is not None and not isinstance(given.data, dict):
        form.wrong("The settings of its base are no mapping.", "Write `setting: value` lines.", given.line)
    values: Mapping[str, Value] = given.data if given and isinstance(given.data, dict) else {}
    for key, value in values.items():
        try:
            settings = settings.merged({key: value.plain}, "the base of the sweep")
        except RefdeskError as error:
            form.wrong(error.message, error.remedy, value.line)
    return settings


def _factors(form: Form, base: Base) -> tuple[Factor, ...]:
    found = []
    for name, value in form.inner("factors").items():
        plain = value.plain
        if not isinstance(plain, list) or not plain:
            form.wrong(f"The factor {name!r} is {plain!r:.60}.", "Write a list of values.", value.line)
            continue
        values = tuple(tuple(one) if isinstance(one, list) else one for one in plain)
        factor = Factor(name=name, values=values)
        for wrong in _wrong(base, factor):
            form.wrong(f"The factor {name!r}: {wrong}", "", value.line)
        found.append(factor)
    return tuple(found)


def _wrong(base: Base, factor: Factor) -> Iterator[str]:
    texts = [repr(value) for value in factor.values]
    if len(set(texts)) < len(texts):
        yield "A value is there twice."
    yield from wrong_values(base, factor)
    if why := shadowed(base, factor):
        yield f"It would change nothing, since {why}."


def _budget(form: Form, given: Mapping[str, float]) -> Budget:
    found: dict[str, Any] = {}
    values = {**{key: one.plain for key, one in form.inner("budget").items()}, **given}
    for key, value in values.items():
        number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if key not in BUDGET:
            form.wrong(f"Its budget has the key {key!r}.", f"Known: {', '.join(BUDGET)}.")
        elif not number or (key == "runs" and value != int(value)):
            form.wrong(f"Its budget of {key} is {value!r:.40}.", "Write a number above 0.")
        else:
            found[key] = int(value) if key == "runs" else float(value)
    return Budget(**found)


def _as_a_whole(sweep: Sweep) -> Iterator[Problem]:
    """Yield what is wrong with combinations, each of which is right by itself."""
    size = grid_size(sweep.factors)
    if sweep.strategy == "random" and sweep.budget.runs is None:
        yield _whole("It draws by chance, and nothing says how many.", "Write `budget: {runs: 20}`.")
        return
    if sweep.strategy == "grid" and size > MOST and sweep.budget.runs is None:
        yield _whole(f"Its grid has {size:,} configurations.", "Write a budget of runs, or another strategy.")
        return
    found: dict[Problem, str] = {}
    for one in sweep.candidates():
        for problem in _combined(sweep, one):
            found.setdefault(problem, one.name)
    yield from (replace(problem, reason=f"{name}: {problem.reason}") for problem, name in found.items())


def _whole(reason: str, remedy: str) -> Problem:
    return Problem(position="", step="", reason=reason, remedy=remedy)


def _combined(sweep: Sweep, one: Candidate) -> tuple[Problem, ...]:
    """Return what keeps a configuration from running. The line of a pipeline's problem is not the sweep's."""
    try:
        made = setup(sweep.base, one.values)
        asks = asks_of(sweep.objective)
        pipeline = made.pipeline if asks.answers else finding(made.pipeline)
        found = pipeline.problems(llm=bool(made.settings.llm)) if asks.pipeline else ()
        return tuple(replace(problem, line=None) for problem in found)
    except RefdeskError as error:
        return (_whole(error.message, error.remedy),)
