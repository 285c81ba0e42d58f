"""The calibration file: what was measured of rerankers and grounders, by their names, as YAML.

    version: 1
    rerankers:
      maxsim(all-MiniLM-L6-v2@int8/384#303cbd1175bb):
        abstain_below: 0.21
        weak_below: 0.34
        measured_on: scifact, test
    grounders:
      local(all-MiniLM-L6-v2@int8/384#303cbd1175bb):
        supported_from: 0.56
        partial_from: 0.32
        measured_on: summedits, evaluation

A name holds the fingerprint of the weights where there is one, so that limits do not outlive what they were
measured with. What an entry holds is for `refdesk.reranking.calibration` and `refdesk.grounding.calibration`.
"""

import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import yaml
from pydantic import TypeAdapter, ValidationError

from refdesk.errors import InputError, SettingsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FILE = "calibration.yaml"
"""Its name in the folder of a library."""
VERSION = 1
RERANKERS, GROUNDERS = "rerankers", "grounders"
SECTIONS = (RERANKERS, GROUNDERS)
LARGEST = 1_000_000
"""Bytes of a file."""
REMEDY = "Mend or remove the file, or write it anew with `refdesk eval calibrate` and `refdesk eval levels`."
HEADING = (
    "# Limits on scores, by what gives them. `refdesk eval calibrate` and `refdesk eval levels` write them.\n"
)

Entry = TypeVar("Entry", bound="DataclassInstance")


class Section(Generic[Entry]):
    """One of the mappings of the file, from names to values of one kind."""

    def __init__(self, name: str, kind: type[Entry]) -> None:
        self.name = name
        self._adapter: TypeAdapter[Entry] = TypeAdapter(kind)
        self._fields = tuple(one.name for one in fields(kind))

    def read(self, path: str | os.PathLike[str]) -> Mapping[str, Entry]:
        """Read the entries of a file, none where it has only other sections.

        Errors: `SettingsError` where there is no file, and with all that is wrong in the section.
        """
        return self._entries(_content(path), repr(os.fspath(path)))

    def write(self, path: str | os.PathLike[str], name: str, entry: Entry) -> None:
        """Put an entry into a file, beside all others; readers see one state or the next.

        Errors: `SettingsError` for a file that is there and cannot be read, or cannot be written.
        """
        target = Path(path)
        content = _content(target) if target.exists() else {}
        kept = self._entries(content, repr(str(target))) if content else {}
        rows = {key: asdict(one) for key, one in sorted({**kept, name: entry}.items())}
        sections = {key: content[key] for key in SECTIONS if key in content} | {self.name: rows}
        _put(
            target,
            HEADING + yaml.safe_dump({"version": VERSION, **sections}, sort_keys=False, allow_unicode=True),
        )

    def _entries(self, content: Mapping[str, Any], named: str) -> Mapping[str, Entry]:
        wrong = [f"it has no field {key!r:.40}" for key in content if key not in ("version", *SECTIONS)]
        found: dict[str, Entry] = {}
        for name, entry in content.get(self.name, {}).items():
            try:
                found[str(name)] = self._adapter.validate_python(entry)
                wrong += [f"{name}: it has no field {key!r:.40}" for key in entry if key not in self._fields]
            except ValidationError as error:
                wrong += [f"{name}: {_fault(dict(one))}" for one in error.errors(include_url=False)]
            except InputError as error:
                wrong.append(f"{name}: {error}")
        if wrong:
            listed = "".join(f"\n- {one}" for one in wrong)
            raise SettingsError(f"The calibration {named} cannot be used:{listed}", remedy=REMEDY)
        return found


def _content(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """Read a file. Errors: `SettingsError` for what is no calibration file."""
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
    version = data.get("version") if isinstance(data, Mapping) else None
    if version != VERSION:
        raise SettingsError(
            f"The calibration {named} has the version {version!r:.40}; there is {VERSION}.", remedy=REMEDY
        )
    there = [key for key in SECTIONS if key in data] or list(SECTIONS)
    if lacking := [key for key in there if not isinstance(data.get(key), Mapping)]:
        named_ones = " or ".join(f"`{key}`" for key in lacking)
        raise SettingsError(f"The calibration {named} has no mapping {named_ones}.", remedy=REMEDY)
    content: Mapping[str, Any] = data
    return content


def _put(target: Path, text: str) -> None:
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        fresh.write_text(text, "utf-8")
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise SettingsError(f"The calibration {str(target)!r} cannot be written: {error}.") from error


def _fault(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place or 'it'}: {error['msg']}"
