"""Addresses of servers, which may carry passwords and keys, as messages may show them."""

import re

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_USER = re.compile(r"[^/?#]*@")
# A password that was not quoted can hold the characters that end a host. After a host stands a port.
_UNQUOTED_USER = re.compile(r"[^/?#:\[]*:(?!\d*(?:[/?#]|$)).*@", re.DOTALL)


def without_user(url: str) -> str:
    """Return an address without user name and password, query and fragment."""
    scheme, mark, rest = url.rpartition("://") if url.count("://") == 1 else url.partition("://")
    if not mark:
        scheme, rest = "", url
    user = _USER.match(rest) or _UNQUOTED_USER.match(rest)
    host = rest[user.end() :] if user else rest
    return scheme + mark + re.split("[?#]", host, maxsplit=1)[0]


def without_users(text: str) -> str:
    """Return a text with every address in it shortened by `without_user`."""
    return _ADDRESS.sub(lambda found: without_user(found[0]), text)


def secrets_of(url: str) -> tuple[str, ...]:
    """Return what `without_user` takes out of an address, whole and in its parts, the longest first."""
    shown = without_user(url)
    rest, start = url.partition("://")[2] or url, shown.partition("://")[2] or shown
    at = rest.find(start)
    user, query = rest[:at].rstrip("@"), rest[at + len(start) :]
    parts = {user, *user.split(":", 1)[1:], query, *re.findall(r"=([^&#]*)", query)}
    return tuple(sorted((part for part in parts if len(part) >= SHORTEST), key=len, reverse=True))


SHORTEST = 4
"""Characters of a secret; shorter ones would be found in any text."""


def with_path(url: str, path: str) -> str:
    """Append a path to an address, before its query."""
    address, mark, query = url.partition("?")
    return address.rstrip("/") + path + mark + query
