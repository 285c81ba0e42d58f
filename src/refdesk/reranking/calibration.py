"""The rerankers of the calibration file: name to thresholds."""

import os
from collections.abc import Mapping

from refdesk.calibration import RERANKERS, Section
from refdesk.reranking.thresholds import SHIPPED, Thresholds

_SECTION = Section(RERANKERS, Thresholds)

Calibration = Mapping[str, Thresholds]
"""A reranker's name to its thresholds."""


def thresholds_of(reranker: str, measured: Calibration) -> Thresholds | None:
    """Return what was measured for a reranker, else what is shipped for it, else None."""
    return measured.get(reranker) or SHIPPED.get(reranker)


def read_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read a file. Errors: `SettingsError` where there is none, and with all that is wrong in it."""
    return _SECTION.read(path)


def write_calibration(path: str | os.PathLike[str], reranker: str, thresholds: Thresholds) -> None:
    """Put a reranker's thresholds into a file, beside all else.

    Errors: `SettingsError` for a file that is there and cannot be read, or cannot be written.
    """
    _SECTION.write(path, reranker, thresholds)
