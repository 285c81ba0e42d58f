"""Names of a text: words that have to stand in the evidence as they are."""

import regex

from refdesk.analysis import analyse
from refdesk.grounding.stopwords import SAYING_LITTLE, STOP_WORDS

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:['’]\p{L}++)?")
_OWN = regex.compile(
    r"\p{L}*+\p{N}[\p{L}\p{N}]*\p{L}|\p{L}++\p{N}[\p{L}\p{N}]*|\p{Lu}{2,}+s?|\p{L}*\p{Ll}\p{Lu}\p{L}*"
)
"""An identifier, such as `X200`, an acronym, or a word with a capital inside."""
_SHOUTED = frozenset(
    {"not", "never", "only", "nicht", "kein", "keine", "pas", *SAYING_LITTLE}.union(*STOP_WORDS.values())
) - {"who", "it"}
"""Words that are sometimes written in capitals to stress them; WHO and IT mean something else then."""
_MEASURE = regex.compile(r"\p{N}++\p{L}{1,3}")
_CAPITAL = regex.compile(r"\p{Lu}\p{L}+")
_OPENING = regex.compile(r"(?:^|[.!?:;…\"“„«(\[*_>–—-])\s*$")
NOUNS_ARE_CAPITALISED = frozenset({"de", "lb"})
_MOSTLY = 0.6
"""Share of words with a capital from which on a text is a title, and capitals say nothing."""
_QUARTER = regex.compile(r"Q([1-4])")
ORDINALS = ("first", "second", "third", "fourth")
_LONGEST_ACRONYM = 6
_ALIKE = 0.75
"""Share of the longer of two words that both begin with, from which on they are forms of one name."""


def names(sentence: str, language: str) -> tuple[str, ...]:
    """Return the words of a sentence that are names, as far as their letters tell.

    Capitals at the beginning of a sentence or a quotation say nothing, nor do those of German nouns.
    """
    words = list(_WORD.finditer(sentence))
    later = [word.group() for word in words[1:] if word.group()[0].isalpha()]
    capitals = sum(word[0].isupper() for word in later)
    telling = language not in NOUNS_ARE_CAPITALISED and (len(later) < 4 or capitals < _MOSTLY * len(later))
    return tuple(
        word.group()
        for word in words
        if word.group().casefold() not in _SHOUTED
        and (_is_own(word.group()) or (telling and _is_name(word.group(), sentence[: word.start()])))
    )


def _is_own(word: str) -> bool:
    return bool(_OWN.fullmatch(word)) and not _MEASURE.fullmatch(word)


def _is_name(word: str, before: str) -> bool:
    return bool(_CAPITAL.match(word)) and not _OPENING.search(before[-3:] if len(before) > 3 else before)


def known(name: str, words: frozenset[str], text: str, language: str) -> bool:
    """Tell whether a name stands in a text that has these words, in one of its forms or spelled apart."""
    bare = regex.sub(r"['’]\p{L}+$", "", name)
    tokens = analyse(bare, language)
    if not tokens or tokens[0] in words or _spelled([bare], text):
        return True
    quarter = _QUARTER.fullmatch(bare)
    if quarter and _spelled([ORDINALS[int(quarter[1]) - 1], "quarter"], text):
        return True
    if any(sign.isnumeric() for sign in bare):
        return _spelled(regex.findall(r"\p{L}+|\p{N}+", bare), text)
    if any(_alike(tokens[0], word) for word in words):
        return True
    short = bare[:-1] if bare.endswith("s") else bare
    return _is_acronym(short) and (_spelled([short], text) or _initials(short, text))


def _alike(one: str, other: str) -> bool:
    length = max(len(one), len(other))
    shared = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return shared >= 4 and shared >= _ALIKE * length


def _spelled(parts: list[str], text: str) -> bool:
    """Look for the parts of an identifier with signs or blanks between them: `X 200`, `X-200`."""
    between = r"[\W_]{0,2}".join(map(regex.escape, parts))
    return regex.search(rf"(?<![^\W_]){between}(?![^\W_])", text, regex.IGNORECASE) is not None


def _is_acronym(word: str) -> bool:
    """Tell words such as WHO, YoY and PhD."""
    return len(word) <= _LONGEST_ACRONYM and sum(sign.isupper() for sign in word) > 1


def _initials(name: str, text: str) -> bool:
    """Look for words that begin with the letters of an acronym, small words between them."""
    letters = r"[\p{L}\p{N}]*+(?:[\s-]+(?:\p{Ll}{1,3}\s+)?)".join(map(regex.escape, name))
    flags = regex.IGNORECASE if len(name) > 2 else 0  # two letters in a row begin words everywhere
    return regex.search(rf"(?<!\p{{L}}){letters}\p{{L}}", text, flags) is not None
