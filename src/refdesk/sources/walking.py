"""Walk a folder in sorted order, past what is no document; links cannot lead out of it or in circles."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from refdesk.sources.patterns import matches, matches_any

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "CVS", "__MACOSX"})
"""Folders that are not entered, as are hidden ones."""
MARKS = ("pyvenv.cfg", "control.sqlite")
"""Files that mark a folder which is not entered: a virtual environment, a library of refdesk."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something below a folder that cannot be listed."""

    path: Path
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files of a folder are meant."""

    glob: str | None = None
    exclude: tuple[str, ...] = ()

    def takes(self, relative: PurePosixPath) -> bool:
        """Tell whether a file at this path below the folder is meant."""
        parents = relative.parents[:-1]
        return (
            not any(self.skips(path) for path in (*parents, relative))
            and not any(parent.name in SKIPPED_FOLDERS for parent in parents)
            and (self.glob is None or matches(self.glob, relative))
        )

    def skips(self, relative: PurePosixPath) -> bool:
        return relative.name.startswith(".") or matches_any(self.exclude, relative)


def walk(folder: Path, selection: Selection) -> Iterator[Path | Problem]:
    """Yield the files below a folder that are meant, sorted by path, and what could not be read.

    A link is not followed: what it points to below the folder is listed under its own name, and what lies
    outside is a `Problem`, since a folder from elsewhere must not be able to pull in other files.
    """
    yield from _walk(folder, PurePosixPath(), selection, Path(os.path.realpath(folder)))


def _walk(folder: Path, relative: PurePosixPath, selection: Selection, top: Path) -> Iterator[Path | Problem]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield Problem(folder, "unreadable", f"The folder cannot be listed: {error.strerror}.")
        return
    for entry in entries:
        below = relative / entry.name
        if selection.skips(below):
            continue
        try:
            yield from _entry(entry, folder / entry.name, below, selection, top)
        except OSError as error:
            yield Problem(folder / entry.name, "unreadable", f"It cannot be looked at: {error.strerror}.")


def _entry(
    entry: "os.DirEntry[str]", path: Path, below: PurePosixPath, selection: Selection, top: Path
) -> Iterator[Path | Problem]:
    if entry.is_symlink():
        yield from _link(path, below, selection, top)
    elif entry.is_dir():
        if entry.name not in SKIPPED_FOLDERS and not any((path / mark).exists() for mark in MARKS):
            yield from _walk(path, below, selection, top)
    elif entry.is_file() and selection.takes(below):
        yield path


def _link(path: Path, below: PurePosixPath, selection: Selection, top: Path) -> Iterator[Problem]:
    target = Path(os.path.realpath(path))
    if target.is_file() and not selection.takes(below):
        return
    if not target.exists():
        yield Problem(path, "unreadable", "The link points to nothing.")
    elif not target.is_relative_to(top):
        yield Problem(path, "outside", f"The link leads out of the folder; name {str(target)!r} to read it.")
