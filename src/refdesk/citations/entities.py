"""Digits and brackets of a marker that are written as HTML entities, which a reader sees as any others."""

import html
import re

from refdesk.citations.brackets import CLOSING, OPENING

_ENTITY = r"&(?:#0{0,4}(?:4[89]|5[0-7]|91|93)|#[xX]0{0,4}(?:3[0-9]|5[bBdD])|[lr](?:brack|sqb));"
_BEGUN = re.compile(r"&#?[0-9A-Za-z]{0,8}\Z")
_MARKER = re.compile(rf"(?:[{re.escape(OPENING + CLOSING)}\d \t,;*_^#-]|{_ENTITY})*")


def spelled_out(text: str, start: int) -> str:
    """Return a text in which the entities of a marker that begins at `start` are written out."""
    found = _MARKER.match(text, start)
    if not found or "&" not in found[0]:
        return text
    plain = re.sub(_ENTITY, lambda entity: html.unescape(entity[0]), found[0])
    return text[:start] + plain + text[found.end() :]


def breaks_off(text: str, start: int) -> bool:
    """Tell whether a text ends in what may be an entity of a marker that begins at `start`."""
    found = _MARKER.match(text, start)
    return bool(found and _BEGUN.match(text, found.end()))
