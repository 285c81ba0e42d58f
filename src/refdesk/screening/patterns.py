"""Patterns of rules to patterns of RE2, which takes linear time and knows words only of ASCII letters.

Texts get marks where words begin and end, and patterns are rewritten for them, so that `\\b`, `\\w` and `\\d`
mean what they should in every script.
"""

import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

import re2
import regex

from refdesk.analysis.scripts import UNSPACED
from refdesk.errors import InputError
from refdesk.screening.seeing import folded

MARK = "\x01"
"""Stands at the edges of words; no text that rules see has it."""
LONGEST_REPEAT = 1000
"""What RE2 takes; it reads more as letters."""
WORD = r"\p{L}\p{M}\p{N}\p{Pc}"
NOT_WORD = r"\p{Z}\p{S}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}"
_NOTHING = r"[^\x{0}-\x{10FFFF}]"
_SETS = {
    "w": WORD,
    "W": NOT_WORD,
    "d": r"\p{Nd}",
    "D": r"\p{L}\p{M}\p{Nl}\p{No}\p{P}\p{S}\p{Z}",
    "s": r"\p{Z}",
    "S": r"\p{L}\p{M}\p{N}\p{P}\p{S}",
}
_CODE = r"\\x\{[0-9a-fA-F]+\}|\\x[0-9a-fA-F]{2}"
_SIGN = rf"{_CODE}|\\[^\w\s]|\\[nrtfv ]"
_TOKENS = regex.compile(
    r"(?P<property>\\[pP](?:\{\^?\w+\}|\w))"
    rf"|(?P<sign>{_SIGN})"
    r"|(?P<set>\\[wWdDsS])"
    r"|(?P<edge>\\b)|(?P<end>\$|\\z)|(?P<start>\^|\\A)"
    r"|(?P<escape>\\.?)"
    r"|(?P<class>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])"
    r"|(?P<open>\[)"
    r"|(?P<group>\((?:\?P?<\w+>|\?[imsU]*(?:-[imsU]+)?[:)]|(?!\?)))"
    r"|(?P<foreign>\(\?(?:<[=!]|P[=>]|.)?)"
    r"|(?P<possessive>(?:[*+?]|\{\d+(?:,\d*)?\})\+)"
    r"|(?P<repeat>[*+?]\??|\{\d+(?:,\d*)?\}\??)"
    rf"|(?P<dot>\.)|(?P<between>[|)])|(?P<literal>[{WORD}]+(?![*+?{{])|.)",
    regex.DOTALL,
)
_MEMBERS = regex.compile(
    r"(?P<posix>\[:\^?\w+:\])|(?P<property>\\[pP](?:\{\^?\w+\}|\w))|(?P<set>\\[wWdDsS])"
    rf"|(?P<range>(?P<low>{_CODE}|\\.|[^\\])-(?P<high>{_CODE}|\\.|[^\\]))"
    rf"|(?P<sign>{_SIGN})|(?P<escape>\\.?)|(?P<literal>.)",
    regex.DOTALL,
)
_VERBOSE = regex.compile(r"\s*\(\?x\)")
_COMMENTS = regex.compile(r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|#[^\n]*|\s+", regex.DOTALL)
WORDS = regex.compile(f"[{WORD}]+")
"""Runs of letters and digits."""
_ATOMS = ("property", "sign", "set", "class", "dot", "literal")
_REMEDIES = {
    "\\": "Write \\\\ for a backslash.",
    "\\Z": "Write \\z.",
    "\\B": "Write what stands there, such as \\w.",
    "(?x": "Write it once, at the beginning, as (?x).",
}


def marked(text: str) -> bytes:
    """Return a folded text with the marks; three of each, since patterns may ask for one edge repeatedly."""
    edge = MARK * 3
    return WORDS.sub(lambda found: edge + found[0] + edge, text).encode()


def unmarked(data: bytes) -> str:
    return data.decode(errors="ignore").replace(MARK, "")


@lru_cache(maxsize=1024)
def compiled(pattern: str, phrases: tuple[str, ...] = ()) -> "re2._Regexp":
    """Return what finds a pattern, or one of some phrases, in marked texts. Errors: `InputError`."""
    own = [_compiled(translated(pattern)).pattern] if pattern else []
    parts = [f"(?:{part})" for part in (*own, *phrases)]
    return _compiled("|".join(parts) or _NOTHING)


def _compiled(pattern: str) -> "re2._Regexp":
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.never_capture = True
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0].decode(errors="replace") if isinstance(error, re2.error) else "no valid text"
        raise InputError(f"{said.replace(f'{MARK}*', '')}.", remedy="Write it as RE2 reads it.") from error


def phrase(text: str) -> str:
    """Return a translated pattern for a whole word or phrase, as it is written.

    In a script without blanks between words it is found anywhere.
    """
    before, after = (
        MARK if WORDS.match(sign) and not UNSPACED.match(sign) else "" for sign in (text[0], text[-1])
    )
    return before + _letters(text) + after


def translated(pattern: str) -> str:
    """Return a pattern for marked texts. Errors: `InputError` for what cannot be matched in linear time."""
    verbose = _VERBOSE.match(pattern)
    text = _COMMENTS.sub(lambda found: found[1] or "", pattern[verbose.end() :]) if verbose else pattern
    return "".join(_pieces(list(_TOKENS.finditer(unicodedata.normalize("NFC", text)))))


def _pieces(tokens: "list[regex.Match[str]]") -> Iterator[str]:
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        kind = token.lastgroup or ""
        piece = _WRITE[kind](token[0]) if kind in _WRITE else token[0]
        repeated = following is not None and following.lastgroup == "repeat"
        yield f"(?:{piece})" if repeated and kind in _ATOMS else piece


def _refused(said: str, why: str, remedy: str) -> InputError:
    return InputError(f"it has `{said}`, which {why}.", remedy=_REMEDIES.get(said, remedy))


def _foreign(said: str) -> str:
    if said in ("(?=", "(?!", "(?<=", "(?<!"):
        remedy = "State what is found; what is not is for a rule before it, or for narrower words."
        raise _refused(said, "looks ahead or behind, and linear time rules that out", remedy)
    raise _refused(said, "cannot be matched in linear time", "Write a group, (...) or (?:...).")


def _possessive(said: str) -> str:
    raise _refused(said, "is possessive", f"Write {said[:-1]}: nothing is tried twice.")


def _repeat(said: str) -> str:
    for number in regex.findall(r"\d+", said):
        if len(number) > 4 or int(number) > LONGEST_REPEAT:
            raise _refused(said, f"repeats more than {LONGEST_REPEAT:,} times", "Write * or +.")
    return said


def _open(said: str) -> str:
    raise _refused(said, "is never closed", "Close it, or write \\[.")


def _escape(said: str) -> str:
    if said[1:] in tuple("123456789k"):
        raise _refused(said, "refers back to a group", "Write out what may be repeated.")
    raise _refused(said, "is unknown", "Write the letter itself, or its code as \\x{E9}.")


def _property(said: str) -> str:
    return MARK + "*" + (f"[^{_opposite(said)}{MARK}]" if _excludes(said) else said)


def _excludes(said: str) -> bool:
    return (said[1] == "P") != ("^" in said)


def _opposite(said: str) -> str:
    return rf"\p{{{said[2:].strip('{}^')}}}"


def _sign(said: str) -> str:
    """Return the character that an escape stands for."""
    if not said.startswith("\\"):
        return said
    if said[1] != "x":
        return " " if said[1].isalpha() else said[1]
    number = int(said[2:].strip("{}"), 16)
    if number > 0x10FFFF:
        raise _refused(said, "is no character", "Write \\x{10FFFF} at most.")
    return chr(number)


def _letters(text: str) -> str:
    """Return a translated pattern for a text; between letters of one word there are no marks."""
    pieces: list[str] = []
    inside = False
    for sign in _seen(text):
        pieces += ["" if inside and WORDS.match(sign) else f"{MARK}*", re2.escape(sign)]
        inside = WORDS.match(sign) is not None
    return "".join(pieces)


def _seen(text: str) -> str:
    """Return a text as it is in folded ones. Errors: `InputError`."""
    if text.isspace():
        return " "
    if not (seen := folded(text)):
        codes = " ".join(f"U+{ord(sign):04X}" for sign in text)
        raise InputError(
            f"it has {codes}, which rules do not see.", remedy="Leave it out; `hidden: true` finds such."
        )
    return seen


def _class(said: str) -> str:
    """Return a class. What it cannot hold stands beside it: `ß` is two letters in a folded text."""
    denied = said.startswith("[^")
    inside: list[str] = []
    beside: list[str] = []
    for member in _MEMBERS.finditer(said[2 if denied else 1 : -1]):
        part = _member(member, denied)
        (beside if part.startswith((f"{MARK}*", "[")) else inside).append(part)
    if denied:
        return f"{MARK}*[^{''.join(inside)}{MARK}]"
    whole = [f"[{''.join(inside)}]"] if inside else []
    return f"{MARK}*(?:{'|'.join(beside + whole)})"


def _member(member: "regex.Match[str]", denied: bool) -> str:
    """Return what stands in a class, or beside it where it begins with a mark or a bracket."""
    kind, said = member.lastgroup, member[0]
    match kind:
        case "posix":
            raise _refused(said, "knows only ASCII", r"Write \p{L}, \w or \d.")
        case "escape":
            return _escape(said)
        case "set":
            return _SETS[said[1]]
        case "property":
            return f"[^{_opposite(said)}{MARK}]" if _excludes(said) and not denied else said
        case "range":
            return "-".join(re2.escape(max(_sign(member[end]), "\x02")) for end in ("low", "high"))
    seen = _seen(_sign(said))
    return re2.escape(seen) if len(seen) == 1 else f"{MARK}*{re2.escape(seen)}"


_WRITE: dict[str, Callable[[str], str]] = {
    "property": _property,
    "sign": lambda said: _letters(_sign(said)),
    "set": lambda said: f"{MARK}*[{_SETS[said[1]]}]",
    "edge": lambda said: MARK,
    "end": lambda said: f"{MARK}*{said}",
    "escape": _escape,
    "class": _class,
    "open": _open,
    "foreign": _foreign,
    "possessive": _possessive,
    "repeat": _repeat,
    "dot": lambda said: f"{MARK}*[^{MARK}]",
    "literal": _letters,
}
