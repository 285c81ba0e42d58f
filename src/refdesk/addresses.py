"""Addresses of servers, which may carry passwords and keys, as messages may show them."""

import re
from urllib.parse import quote, unquote

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_USER = re.compile(r"[^/?#]*@")
# A password that was not quoted can hold the characters that end a host. After a host stands a port.
_UNQUOTED_USER = re.compile(r"[^/?#:\[]*:(?!\d*(?:[/?#]|$)).*@", re.DOTALL)
SHORTEST = 4
"""Characters of a secret; shorter ones would be found in any text."""


def without_user(url: str) -> str:
    """Return an address without user name and password, query and fragment."""
    scheme, _, place, _ = _parts(url)
    return scheme + place


def without_users(text: str) -> str:
    """Return a text with every address in it shortened by `without_user`."""
    return _ADDRESS.sub(lambda found: without_user(found[0]), text)


def secrets_of(url: str) -> tuple[str, ...]:
    """Return what `without_user` takes out of an address, whole and in its parts, the longest first."""
    _, user, _, query = _parts(url)
    parts = {user, user.partition(":")[2], query, *re.findall(r"=([^&#]*)", query)}
    parts |= {form(part) for part in parts for form in (unquote, _quoted)}
    return tuple(sorted((part for part in parts if len(part) >= SHORTEST), key=len, reverse=True))


def with_path(url: str, path: str) -> str:
    """Append a path to an address, before its query."""
    address, mark, query = url.partition("?")
    return address.rstrip("/") + path + mark + query


def _quoted(part: str) -> str:
    """Return a part as clients write it into a request's address."""
    return quote(part, safe="%:&=!$'()*+,;~")


def _parts(url: str) -> tuple[str, str, str, str]:
    """Return scheme with `://`, user and password, host with path, query and fragment."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        scheme, rest = "", url
    found = _USER.match(rest) or _UNQUOTED_USER.match(rest)
    user = found[0] if found else ""
    place = re.split("[?#]", rest[len(user) :], maxsplit=1)[0]
    return scheme + mark, user[:-1], place, rest[len(user) + len(place) + 1 :]
