"""One word to its tokens: cut where the script changes, lower, stem, fold, bound."""

import hashlib
from collections.abc import Iterator
from typing import Final

import regex

from refdesk.analysis.compounds import compound_parts
from refdesk.analysis.folding import ACCENTS_MATTER, before_stemming, digits, fold, lower
from refdesk.analysis.scripts import UNSPACED, language_of, runs
from refdesk.analysis.segmentation import letters, syllables
from refdesk.analysis.stemming import stem

LONGEST_TOKEN: Final = 39
"""Bytes of UTF-8; the full-text index of LanceDB drops longer tokens."""

_KEPT_BYTES: Final = 16
_CASE_CHANGE: Final = regex.compile(r"\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}\p{Ll}")
_CASE_PART: Final = regex.compile(r"\p{Lu}+s?(?!\p{Ll})|\p{Lu}?\p{Ll}++|\p{Lu}|[^\p{Lu}\p{Ll}]++")
_ORDINAL: Final = regex.compile(r"\d+(?:st|nd|rd|th)", regex.IGNORECASE)


def bound(token: str) -> str:
    """Return the token, or its beginning and a digest where the index would drop it."""
    if len(token) * 4 <= LONGEST_TOKEN or len(data := token.encode()) <= LONGEST_TOKEN:
        return token
    digest = hashlib.blake2b(data, digest_size=8).hexdigest()
    return f"{data[:_KEPT_BYTES].decode(errors='ignore')}~{digest}"


def word_tokens(word: str, language: str) -> Iterator[str]:
    """Yield the tokens of letters, marks and digits without anything between them."""
    pieces = runs(word)
    if len(pieces) > 1 and not UNSPACED.search(word):
        yield whole(word, language)
        if _ORDINAL.fullmatch(word):
            return
    for script, run in pieces:
        yield from _run_tokens(script, run, language)
        yield from _case_tokens(run, language)


def whole(text: str, language: str) -> str:
    """Return a text as one token: lower case, folded, not stemmed."""
    return bound("".join(digits(fold(lower(run, language), script)) for script, run in _with_signs(text)))


def _with_signs(text: str) -> Iterator[tuple[str, str]]:
    end = 0
    for script, run in runs(text):
        start = text.index(run, end)
        yield "other", text[end:start]
        yield script, run
        end = start + len(run)
    yield "other", text[end:]


def _run_tokens(script: str, run: str, language: str) -> Iterator[str]:
    if script == "continuous":
        yield from map(bound, letters(run.casefold()))
    elif script == "clustered":
        yield from map(bound, syllables(run))
    elif script == "number":
        yield bound(digits(run).casefold())
    else:
        yield from map(bound, _stemmed(script, run, language_of(script, language)))


def _stemmed(script: str, run: str, language: str) -> Iterator[str]:
    plain = before_stemming(lower(run, language), script, language)
    root = stem(plain, script, language)
    yield fold(root, script) or plain or run
    if script == "latin":
        yield from (fold(part, script) for part in compound_parts(plain, language))
        if language in ACCENTS_MATTER and fold(root, script) != root:
            yield root


def _case_tokens(run: str, language: str) -> Iterator[str]:
    if _CASE_CHANGE.search(run) is None:
        return
    for part in _CASE_PART.findall(run):
        if 1 < len(part) < len(run):
            yield from _run_tokens(runs(part)[0][0], part, language)
