"""Which configurations a sweep tries, and what they are called."""

import hashlib
import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from refdesk.evaluation.sweeps.factors import Factor, Values, in_words

Strategy = Literal["one_at_a_time", "grid", "random"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
BASE = "base"
LONGEST = 60
"""Characters of a configuration's name; longer ones end in a hash of their values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One configuration: what it is called, and the value of every factor in it."""

    name: str
    values: Values
    changed: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the base."""


def candidates(
    factors: Sequence[Factor],
    base: Values,
    *,
    strategy: Strategy,
    most: int | None = None,
    seed: int = 0,
) -> tuple[Candidate, ...]:
    """Return the configurations to try, the base first, which all others are compared with.

    `one_at_a_time` changes one factor of the base at a time, `grid` takes every combination, `random` draws
    combinations without replacement until there are `most`, the base counted.
    """
    rows = [dict(base)]
    for row in _rows(factors, base, strategy, most, seed):
        if row not in rows:
            rows.append(row)
    return _named([_differing(row, base) for row in rows[:most]])


def grid_size(factors: Sequence[Factor]) -> int:
    """Return how many combinations there are."""
    return math.prod(len(one.values) for one in factors)


def _rows(
    factors: Sequence[Factor], base: Values, strategy: Strategy, most: int | None, seed: int
) -> Iterator[dict[str, Any]]:
    names, values = [one.name for one in factors], [one.values for one in factors]
    if strategy == "one_at_a_time":
        for one in factors:
            yield from ({**base, one.name: value} for value in one.values)
    elif strategy == "grid":
        combinations = itertools.islice(itertools.product(*values), most)
        yield from (dict(zip(names, row, strict=True)) for row in combinations)
    else:
        total = grid_size(factors)
        drawn = random.Random(seed).sample(range(total), min(total, most or total))
        yield from (dict(zip(names, _combination(values, number), strict=True)) for number in drawn)


def _combination(values: Sequence[Sequence[Any]], number: int) -> list[Any]:
    """Return the combination with this number, as `itertools.product` would count them."""
    found = []
    for one in reversed(values):
        number, place = divmod(number, len(one))
        found.append(one[place])
    return found[::-1]


def _differing(row: Values, base: Values) -> Candidate:
    changed = {name: value for name, value in row.items() if value != base[name]}
    return Candidate(name=label(changed), values=row, changed=changed)


def label(values: Values) -> str:
    """Name values in characters that are allowed in the names of runs and folders."""
    return "+".join(f"{_allowed(name)}={_allowed(value)}" for name, value in values.items()) or BASE


def _allowed(value: Any) -> str:
    return re.sub(r"[^\w.-]+", "-", in_words(value)).strip("-")


def _named(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Give names of their own to those that have none, or too long ones."""
    counted = Counter(one.name for one in found)
    return tuple(
        one if counted[one.name] == 1 and len(one.name) <= LONGEST else _hashed(one) for one in found
    )


def _hashed(one: Candidate) -> Candidate:
    text = json.dumps(one.changed, sort_keys=True, default=str)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Candidate(name=f"{one.name[: LONGEST - 9]}-{mark}", values=one.values, changed=one.changed)
