"""Where a library is: a folder, or a database by its URL; and the folder of the files beside it."""

import hashlib
import os
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import platformdirs

from refdesk.addresses import without_user
from refdesk.errors import InputError

POSTGRES = ("postgresql", "postgres")
PLACED = ("host", "hostaddr", "port", "dbname", "schema")
"""Parameters of a URL that say where the library is."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def in_database(library: str) -> bool:
    """Tell whether a library is named by URL. Errors: `InputError` for one of another kind."""
    scheme = _SCHEME.match(library)
    if scheme is None:
        return False
    if scheme[1].lower() in POSTGRES:
        return True
    raise InputError(
        f"Cannot open a library at {scheme[0]}...; a folder or a URL postgresql://... is expected.",
        remedy="Write a folder of such a name as ./NAME.",
    )


def files_beside(library: str) -> Path:
    """Return the folder for what is kept beside a library: its own, or for a database one of the user's.

    It is the same for all users and passwords of a database.
    """
    if not in_database(library):
        return Path(library)
    place = shown(library)
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", place.partition("://")[2]).strip("-.")[:60]
    digest = hashlib.sha256(place.encode()).hexdigest()[:12]
    folder = f"{name}-{digest}" if name else digest
    return platformdirs.user_data_path("refdesk", appauthor=False) / "libraries" / folder


def root(library: str) -> str:
    """Return the folder that ids of files are relative to: the library's parent, or the current one."""
    return os.getcwd() if in_database(library) else os.path.dirname(os.path.abspath(library))


def shown(library: str) -> str:
    """Return where a library is, without user, password and what else its URL says."""
    if not in_database(library):
        return library
    try:
        asked = dict(parse_qsl(urlsplit(library).query))
    except ValueError:
        asked = {}
    placed = "&".join(f"{name}={asked[name]}" for name in PLACED if asked.get(name))
    return f"{without_user(library)}{'?' if placed else ''}{placed}"
