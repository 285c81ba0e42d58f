"""The grounders of the calibration file: name to levels, and grounders with levels of one's own."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from refdesk.calibration import GROUNDERS, Section
from refdesk.grounding import Grounder
from refdesk.grounding.levels import Levels
from refdesk.grounding.local import LocalGrounder

_SECTION = Section(GROUNDERS, Levels)

MeasuredLevels = Mapping[str, Levels]
"""A grounder's name to its levels."""


def read_levels(path: str | os.PathLike[str]) -> MeasuredLevels:
    """Read a file. Errors: `SettingsError` where there is none, and with all that is wrong in it."""
    return _SECTION.read(path)


def write_levels(path: str | os.PathLike[str], grounder: str, levels: Levels) -> None:
    """Put a grounder's levels into a file, beside all else.

    Errors: `SettingsError` for a file that is there and cannot be read, or cannot be written.
    """
    _SECTION.write(path, grounder, levels)


def measured_as(grounder: Grounder) -> str:
    """Return under which name levels of a grounder are kept, empty for one that has none, such as a judge."""
    if isinstance(grounder, LocalGrounder):
        return f"{grounder.name}({grounder.embedder.fingerprint})"
    return str(getattr(grounder, "name", "")) if levels_of(grounder) else ""


def levels_of(grounder: Grounder) -> Levels | None:
    """Return the levels of a grounder, None for one that has none."""
    levels = getattr(grounder, "levels", None)
    return levels if isinstance(levels, Levels) else None


def levelled(grounder: Grounder, measured: MeasuredLevels) -> Grounder:
    """Return a grounder with the levels that were measured for it; the same one where none were."""
    changes: dict[str, Any] = {}
    if (name := measured_as(grounder)) and (levels := measured.get(name)):
        changes["levels"] = levels
    if isinstance(grounder, LocalGrounder) and (others := measured.get(grounder.other.name)):
        changes["other"] = replace(grounder.other, levels=others)
    return replace(grounder, **changes) if changes else grounder  # type: ignore[type-var]
