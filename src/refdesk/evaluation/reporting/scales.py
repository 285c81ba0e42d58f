"""Axes: round ticks, positions, and how wide text is."""

import math
import unicodedata
from dataclasses import dataclass

STEPS = (1, 2, 2.5, 5, 10)
WIDTH = 6.3
"""Of a character in a picture, in its units; a little more than it is on average."""
MANY = 3
"""Powers of ten on an axis from which on only they have ticks."""
SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Values from `low` to `high` between two positions; logarithmic where that is said."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return where a value is, inside the picture."""
        inside = min(max(value, self.low), self.high)
        low, high, place = (self._turned(one) for one in (self.low, self.high, inside))
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def ticks(self, count: int = 6) -> list[float]:
        """Return round values for the axis, about `count`."""
        return decades(self.low, self.high) if self.logarithmic else round_values(self.low, self.high, count)

    def _turned(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


def round_values(low: float, high: float, count: int = 6) -> list[float]:
    """Return round values within limits, evenly spaced, not many more than `count`."""
    if not high > low:
        return [low]
    rough = (high - low) / max(count - 1, 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in STEPS if unit * factor >= rough * (1 - SLACK))
    first, last = math.ceil(low / step - SLACK), math.floor(high / step + SLACK)
    return [round(number * step, 12) for number in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times powers of ten within limits; only the powers where those are many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1, 2, 5) if math.log10(high / low) <= MANY else (1,)
    values = [factor * 10.0**power for power in powers for factor in factors]
    return [value for value in values if low * (1 - SLACK) <= value <= high * (1 + SLACK)]


def rounded_up(value: float, count: int = 6) -> float:
    """Return the end of an axis that begins at 0 and holds the value, with a tick at its end."""
    if value <= 0:
        return 1.0
    ticks = round_values(0, value, count)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else value
    return math.ceil(value / step - SLACK) * step


def text_width(text: str) -> float:
    """Estimate how wide text is in a picture; wide characters count twice, marks on others nothing."""
    return WIDTH * sum(map(_cells, text))


def fitted(text: str, width: float) -> str:
    """Cut a text so that it fits into a width."""
    line = " ".join(text[:400].split())
    if text_width(line) <= width:
        return line
    while line and text_width(line + "…") > width:
        line = line[:-1]
    return line.rstrip() + "…"


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
