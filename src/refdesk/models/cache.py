"""The cache of models: where it is, and how a folder gets there whole or not at all.

A folder is filled beside its place and renamed into it, so an interrupted pull leaves nothing that looks
like a model, and of two processes that pull at once one wins and both end with the same folder.
`stamp.json` lists size and sha256 of every file as they were checked: a load compares sizes only, which
costs microseconds.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from refdesk.errors import ModelError

STAMP = "stamp.json"


def default_cache() -> Path:
    """Return the folder that holds models: `REFDESK_CACHE`, else one in the user's cache folder."""
    if chosen := os.environ.get("REFDESK_CACHE"):
        return Path(chosen).expanduser()
    return platformdirs.user_cache_path("refdesk", appauthor=False) / "models"


def sha256_of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def staging(cache: Path) -> Iterator[Path]:
    """Give an empty folder on the cache's own disk; it is gone afterwards unless it was published."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".partial-", dir=cache))
    except OSError as error:
        raise ModelError(
            f"The model cache {str(cache)!r} cannot be written: {error.strerror}.",
            remedy="Set REFDESK_CACHE to a folder that can.",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(folder: Path, place: Path) -> None:
    """Stamp a complete folder and rename it to its place, replacing a damaged one that is there."""
    write_stamp(folder)
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists() and not intact(place):
        _set_aside(place)
    try:
        folder.rename(place)
    except OSError as error:
        if not intact(place):  # else another process was first, with the same files
            raise ModelError(
                f"The model folder {str(place)!r} cannot be written: {error.strerror}.",
                remedy="Remove it and try again.",
            ) from error


def _set_aside(place: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=".partial-", dir=place.parent))
    try:
        place.rename(aside / "damaged")
    except FileNotFoundError:  # another process set it aside first
        pass
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def write_stamp(folder: Path) -> None:
    """Write size and sha256 of every file in a folder to its stamp."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != STAMP)
    entries = {
        path.relative_to(folder).as_posix(): {"size": path.stat().st_size, "sha256": sha256_of(path)}
        for path in files
    }
    (folder / STAMP).write_text(json.dumps(entries, indent=1), encoding="utf-8")


def read_stamp(folder: Path) -> dict[str, tuple[int, str]]:
    """Return size and sha256 by file name; empty where there is no readable stamp."""
    try:
        entries = json.loads((folder / STAMP).read_text(encoding="utf-8"))
        return {name: (int(entry["size"]), str(entry["sha256"])) for name, entry in entries.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def intact(folder: Path) -> bool:
    """Tell whether every file of a stamped folder is there with its size. Contents are not read."""
    stamp = read_stamp(folder)
    return bool(stamp) and all(_size(folder / name) == size for name, (size, _) in stamp.items())


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1
