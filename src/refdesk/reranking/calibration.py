"""The calibration file: a reranker's name to its thresholds, as YAML.

    version: 1
    rerankers:
      maxsim(all-MiniLM-L6-v2@int8/384#303cbd1175bb):
        abstain_below: 0.21
        weak_below: 0.34
        measured_on: scifact, test

A name holds the fingerprint of the weights where there is one, so that limits do not outlive what they were
measured with.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from refdesk.errors import InputError, SettingsError
from refdesk.reranking.thresholds import SHIPPED, Thresholds

FILE = "calibration.yaml"
"""Its name in the folder of a library."""
VERSION = 1
LARGEST = 1_000_000
"""Bytes of a file."""
REMEDY = "Mend or remove the file, or write it anew with `refdesk eval calibrate`."
HEADING = (
    "# Limits on the best reranker score of a question, by reranker. `refdesk eval calibrate` writes them.\n"
)

FIELDS = tuple(one.name for one in fields(Thresholds))
_ENTRY: TypeAdapter[Thresholds] = TypeAdapter(Thresholds)

Calibration = Mapping[str, Thresholds]
"""A reranker's name to its thresholds."""


def thresholds_of(reranker: str, measured: Calibration) -> Thresholds | None:
    """Return what was measured for a reranker, else what is shipped for it, else None."""
    return measured.get(reranker) or SHIPPED.get(reranker)


def read_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read a file. Errors: `SettingsError` where there is none, and with all that is wrong in it."""
    named = repr(os.fspath(path))
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LARGEST + 1)
        if len(raw) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        data = yaml.safe_load(raw.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())
        raise SettingsError(f"The calibration {named} cannot be read: {said}.", remedy=REMEDY) from error
    return _parsed(data, named)


def write_calibration(path: str | os.PathLike[str], reranker: str, thresholds: Thresholds) -> None:
    """Put a reranker's thresholds into a file, beside those of others; readers see one state or the next.

    Errors: `SettingsError` for a file that is there and cannot be read, or cannot be written.
    """
    target = Path(path)
    kept = read_calibration(target) if target.exists() else {}
    rows = {name: asdict(one) for name, one in sorted({**kept, reranker: thresholds}.items())}
    text = HEADING + yaml.safe_dump(
        {"version": VERSION, "rerankers": rows}, sort_keys=False, allow_unicode=True
    )
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_text(text, "utf-8")
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise SettingsError(f"The calibration {str(target)!r} cannot be written: {error}.") from error


def _parsed(data: Any, named: str) -> Calibration:
    version = data.get("version") if isinstance(data, Mapping) else None
    if version != VERSION:
        raise SettingsError(
            f"The calibration {named} has the version {version!r:.40}; there is {VERSION}.", remedy=REMEDY
        )
    entries = data.get("rerankers")
    if not isinstance(entries, Mapping):
        raise SettingsError(f"The calibration {named} has no mapping `rerankers`.", remedy=REMEDY)
    wrong = [f"it has no field {key!r:.40}" for key in data if key not in ("version", "rerankers")]
    found: dict[str, Thresholds] = {}
    for name, entry in entries.items():
        try:
            found[str(name)] = _ENTRY.validate_python(entry)
            wrong += [f"{name}: it has no field {key!r:.40}" for key in entry if key not in FIELDS]
        except ValidationError as error:
            wrong += [f"{name}: {_fault(dict(one))}" for one in error.errors(include_url=False)]
        except InputError as error:
            wrong.append(f"{name}: {error}")
    if wrong:
        listed = "".join(f"\n- {one}" for one in wrong)
        raise SettingsError(f"The calibration {named} cannot be used:{listed}", remedy=REMEDY)
    return found


def _fault(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place or 'it'}: {error['msg']}"
