"""A configuration from YAML, with all that is wrong with it at once."""

import re
from collections.abc import Mapping
from datetime import timedelta
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from refdesk.errors import SettingsError
from refdesk.plugins import load_late
from refdesk.sources.files import existing
from refdesk.sources.sql import connecting, selects
from refdesk.sources.sql.complaints import Complaints
from refdesk.sources.sql.form import NAME, SYNC, TOP, VERSION, Config, Sync
from refdesk.sources.sql.mapping import read_map
from refdesk.sources.sql.options import read_options
from refdesk.sources.sql.presets import PRESETS
from refdesk.yamlvalues import Unreadable, Value, as_value, read

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d{1,6})\s*([smhd])")
_PAGES = (10, 1_000_000)


def read_config(source: str | PathLike[str] | Mapping[str, Any]) -> Config:
    """Return the configuration in a file, or in plain data.

    Errors: `SettingsError` with every problem; `SourceError` where there is no such file.
    """
    if isinstance(source, Mapping):
        return _config(as_value(source), "The SQL source", "")
    path = existing(Path(fspath(source)))
    what = f"The SQL source {path.name!r}"
    try:
        value = read(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"{what} cannot be read: {error.strerror}.", remedy="Check the path.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{what} is not UTF-8.", remedy="Save it as UTF-8.") from error
    except Unreadable as error:
        raise SettingsError(f"{what} cannot be used: {error.problem}") from error
    return _config(value, what, _name_of(path))


def _name_of(path: Path) -> str:
    return re.sub(r"[^a-z0-9_.-]+", "-", path.stem.lower()).strip("-._")[:60]


def _config(value: Value, what: str, name: str) -> Config:
    complaints = Complaints()
    given = complaints.keys("It", value, TOP)
    reader = _Reader(complaints, given)
    config = reader.config(name)
    complaints.refuse(what)
    return config


class _Reader:
    def __init__(self, complaints: Complaints, given: Mapping[str, Value]) -> None:
        self.complaints = complaints
        self.given = given

    def config(self, name: str) -> Config:
        self._version()
        parameters = self._plain("parameters", dict, "names with values") or {}
        preset = self._preset()
        mapped = self.given.get("map") or Value({})
        if "preset" not in self.given and "map" not in self.given:
            self.complaints.wrong("It has no `map`.", "Write `map:` with `id`, `text` and `acl`.")
        elif "map" in self.given:
            read_map(mapped, self.complaints, partial="preset" in self.given)
        return Config(
            name=self._name(name),
            url=self._url(),
            query=self._query(parameters),
            parameters=parameters,
            preset=preset,
            map=mapped.plain,
            sync=self._sync(),
        )

    def _plain(self, key: str, kinds: type | tuple[type, ...], allowed: str) -> Any:
        return self.complaints.of(f"`{key}`", self.given.get(key), kinds, allowed)

    def _line(self, key: str) -> int:
        return self.given[key].line if key in self.given else 0

    def _version(self) -> None:
        if "version" not in self.given:
            self.complaints.wrong("It has no `version`.", f"Write `version: {VERSION}`.")
        elif self.given["version"].plain != VERSION:
            reason = f"`version` is {self.given['version'].plain!r:.20}."
            self.complaints.wrong(reason, f"Write {VERSION}.", self._line("version"))

    def _name(self, name: str) -> str:
        given = str(self._plain("name", str, "a name") or name)
        if not given:
            self.complaints.wrong("It has no `name`.", "Write `name:` and a short word.")
        elif not NAME.fullmatch(given):
            remedy = "Write small letters, digits, `.`, `_` and `-`, at most 60."
            self.complaints.wrong(f"`name` is {given!r:.70}.", remedy, self._line("name"))
        return given

    def _url(self) -> str:
        url = str(self._plain("url", str, "an address such as postgresql://user@host/database") or "")
        line = self._line("url")
        if "url" not in self.given:
            self.complaints.wrong("It has no `url`.", "Write `url: postgresql://user@host/database`.")
        if missing := connecting.variables(url):
            names = ", ".join(missing)
            self.complaints.wrong(f"`url` needs {names}, not set in the environment.", "Set it.", line)
        url = connecting.filled(url)
        if url and not missing and not connecting.dialect(url):
            scheme = url.partition(":")[0][:20] if "://" in url else ""
            self.complaints.unknown("`url` begins with", scheme, tuple(connecting.DRIVERS), line)
        return url

    def _query(self, parameters: Mapping[str, Any]) -> str:
        if ("query" in self.given) == ("preset" in self.given):
            self.complaints.wrong(
                "It has not one of `query` and `preset`.", "Write either.", self._line("query")
            )
        query = str(self._plain("query", str, "one SELECT") or "")
        if "query" in self.given:
            for reason, remedy in selects.faults(query, parameters):
                self.complaints.wrong(f"`query`: {reason}", remedy, self._line("query"))
        return query

    def _preset(self) -> Any:
        name = self._plain("preset", str, f"one of {', '.join(PRESETS)}")
        options = self._plain("options", dict, "names with values")
        if options is None and "options" in self.given:
            return None
        if name is None:
            if options:
                self.complaints.wrong(
                    "It has `options` and no preset.", "Leave them out.", self._line("options")
                )
            return None
        if name not in PRESETS:
            self.complaints.unknown("There is no preset", name, PRESETS, self._line("preset"))
            return None
        module, _, kind = PRESETS[name].partition(":")
        chosen = getattr(load_late(module), kind)
        return read_options(
            chosen, self.given.get("options") or Value({}), self._line("preset"), self.complaints
        )

    def _sync(self) -> Sync:
        given = self.complaints.keys("`sync`", self.given.get("sync") or Value({}), SYNC)
        reader = _Sync(self.complaints, given)
        return Sync(
            overlap=reader.overlap(),
            walk=reader.walk(),
            remove_at_most=reader.share(),
            page=reader.page(),
            timezone=reader.timezone(),
        )


class _Sync:
    def __init__(self, complaints: Complaints, given: Mapping[str, Value]) -> None:
        self.complaints = complaints
        self.given = given

    def overlap(self) -> timedelta:
        return self._duration("overlap") if "overlap" in self.given else Sync().overlap

    def walk(self) -> timedelta | None:
        match self.given["walk"].plain if "walk" in self.given else "always":
            case "always":
                return timedelta(0)
            case "never":
                return None
        return self._duration("walk")

    def _duration(self, key: str) -> timedelta:
        one = self.given[key]
        found = _DURATION.fullmatch(str(one.plain).strip())
        if one.plain != 0 and not found:
            words = "`always`, `never` or a duration" if key == "walk" else "A duration"
            self.complaints.wrong(f"`{key}` is {one.plain!r:.40}.", f"{words} such as 10m or 6h.", one.line)
        return timedelta(seconds=int(found[1]) * UNITS[found[2]] if found else 0)

    def share(self) -> float:
        found = self._number("remove_at_most", (int, float), 0, 1)
        return Sync().remove_at_most if found is None else float(found)

    def page(self) -> int:
        return int(self._number("page", int, *_PAGES) or Sync().page)

    def _number(self, key: str, kinds: type | tuple[type, ...], least: float, most: float) -> float | None:
        allowed = f"a number from {least:,} to {most:,}"
        found: float | None = self.complaints.of(f"`{key}`", self.given.get(key), kinds, allowed)
        if found is not None and not least <= found <= most:
            self.complaints.wrong(f"`{key}` is {found}.", f"Allowed is {allowed}.", self.given[key].line)
        return found

    def timezone(self) -> Any:
        name = self.complaints.of(
            "`timezone`", self.given.get("timezone"), str, "a name such as Europe/Berlin"
        )
        try:
            return ZoneInfo(name) if name else Sync().timezone
        except (ZoneInfoNotFoundError, ValueError):
            self.complaints.wrong(f"There is no time zone {name!r}.", "Write a name such as Europe/Berlin.")
            return Sync().timezone
