"""Files and folders as a source."""

import difflib
import os
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePosixPath

from anyio import to_thread

from refdesk.errors import InputError, SourceError
from refdesk.sources import SourceFailure, SourceItem
from refdesk.sources.walking import Problem, Selection, walk

MAX_BYTES = 256 * 1024 * 1024


class Files:
    """List files, and the files below folders, in sorted order; hidden ones and links are skipped.

    A file's `source_id` is its path relative to `root` (default: the working folder) where it lies inside,
    else its absolute path, always with `/`. So a file has one identity, however it was named: alone, by its
    folder or by a folder above. `glob` and `exclude` choose among the files below folders; a file that is
    named itself is always taken. Errors: `SourceError` for a path that does not exist.
    """

    def __init__(
        self,
        paths: Iterable[str | PathLike[str]] | str | PathLike[str],
        *,
        glob: str | None = None,
        exclude: Sequence[str] = (),
        root: str | PathLike[str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        given = [paths] if isinstance(paths, str | PathLike) else list(paths)
        if not given:
            raise InputError("No path was given.", remedy="Name at least one file or folder.")
        if any(not os.fspath(path).strip() for path in given):
            raise InputError("A path is empty.", remedy="Name a file or a folder; the one you are in is '.'.")
        self._root = Path(os.path.abspath(root or "."))
        # Absolute but not resolved: a link that is named itself keeps the name that it was given by.
        self._given = tuple(existing(Path(os.path.abspath(path))) for path in given)
        self._folders = frozenset(path for path in self._given if path.is_dir())
        self._selection = Selection(glob, tuple(exclude))
        self._max_bytes = max_bytes

    def count(self) -> int:
        return len(self._listed)

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        """Read one file after the other; one that cannot be read is a `SourceFailure`."""
        for found in await to_thread.run_sync(lambda: self._listed):
            if isinstance(found, Problem):
                name = self._source_id(found.path)
                yield SourceFailure(name, found.reason, found.message, hides=f"{name}/")
            else:
                yield await to_thread.run_sync(self._read, found)

    def covers(self, source_id: str, url: str | None) -> bool:
        """Tell whether the id is that of a named file, or of a file below a named folder that is meant."""
        if not (url or "").startswith("file:"):
            return False
        path = Path(os.path.normpath(self._root / source_id))
        return any(self._meant(path, given) for given in self._given)

    def _meant(self, path: Path, given: Path) -> bool:
        if given not in self._folders:
            return path == given
        if path == given or not path.is_relative_to(given):
            return False
        return self._selection.takes(PurePosixPath(path.relative_to(given).as_posix()))

    @cached_property
    def _listed(self) -> list[Path | Problem]:
        """What there is, each path once."""
        found: dict[Path, Path | Problem] = {}
        for given in self._given:
            for entry in walk(given, self._selection) if given in self._folders else (given,):
                found.setdefault(entry.path if isinstance(entry, Problem) else entry, entry)
        return list(found.values())

    def _source_id(self, path: Path) -> str:
        return identity(path, self._root)

    def _read(self, path: Path) -> SourceItem | SourceFailure:
        source_id = self._source_id(path)
        if "\ufffd" in source_id:
            return SourceFailure(source_id, "unreadable", "The name is not valid UTF-8; rename the file.")
        try:
            status = path.stat()
            if status.st_size > self._max_bytes:
                message = f"{status.st_size:,} bytes are more than the limit of {self._max_bytes:,}."
                return SourceFailure(source_id, "too_large", message)
            data = path.read_bytes()
        except OSError as error:
            return SourceFailure(source_id, "unreadable", f"The file cannot be read: {error.strerror}.")
        modified = datetime.fromtimestamp(int(status.st_mtime), UTC)
        return SourceItem(
            source_id=source_id,
            name=path.name,
            data=data,
            url=path.as_uri(),
            metadata={"modified": modified},
        )


def identity(path: Path, root: Path) -> str:
    """Return the id of an absolute path: relative to `root` where it lies inside, always with `/`."""
    name = (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def existing(path: Path) -> Path:
    """Return the path. Errors: `SourceError` with the nearest name where nothing is there."""
    if path.is_file() or path.is_dir():
        return path
    if path.exists():
        raise SourceError(f"{str(path)!r} is neither a file nor a folder.", remedy="Name a file or a folder.")
    raise SourceError(f"There is no file or folder {str(path)!r}.", remedy=_nearest(path))


def _nearest(path: Path) -> str:
    """Return what to do about a path that does not exist: the nearest name, or what is missing above it."""
    if not path.parent.is_dir():
        return f"The folder {str(path.parent)!r} does not exist either."
    names = list(_names(path.parent))
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    return f"Did you mean {str(path.parent / close[0])!r}?" if close else "Check the spelling."


def _names(folder: Path) -> Iterator[str]:
    try:
        yield from os.listdir(folder)
    except OSError:
        return
