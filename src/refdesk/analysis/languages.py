"""Which language a text is in: by its script where that decides, else by py3langid (Lui and Baldwin 2012)."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from typing import Final

import regex
from py3langid.langid import MODEL_FILE, LanguageIdentifier

UNDETERMINED: Final = "und"

_SLICE: Final = 1500
_SHORTEST: Final = 20
_CONFIDENT: Final = 0.6
_PLAUSIBLE: Final = 0.1
_LETTERS: Final = regex.compile(r"[\p{L}\p{M}]++")
_KANA: Final = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_KANA_SHARE: Final = 0.05
_ONE_LANGUAGE: Final = regex.compile(
    r"(?P<zh>[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}]++)|(?P<ko>\p{Hangul}++)|(?P<th>\p{Thai}++)|(?P<lo>\p{Lao}++)"
    r"|(?P<km>\p{Khmer}++)|(?P<my>\p{Myanmar}++)|(?P<el>\p{Greek}++)|(?P<hy>\p{Armenian}++)|(?P<ka>\p{Georgian}++)"
    r"|(?P<ta>\p{Tamil}++)|(?P<te>\p{Telugu}++)|(?P<kn>\p{Kannada}++)|(?P<ml>\p{Malayalam}++)|(?P<gu>\p{Gujarati}++)"
    r"|(?P<pa>\p{Gurmukhi}++)|(?P<si>\p{Sinhala}++)|(?P<many>[\p{L}\p{M}])"
)
_MANY: Final = "many"
_MACRO: Final = {
    "wuu": "zh",
    "yue": "zh",
    "arz": "ar",
    "ary": "ar",
    "hbo": "he",
    "grc": "el",
    "uzs": "uz",
    "sdh": "ku",
}
"""Codes that the model tells apart and ISO 639-1 does not."""


def detect_language(text: str) -> str:
    """Return the ISO 639-1 code of the language, or `und` where the text is too short or mixed to tell."""
    sample = _sample(text)
    if decided := _by_script(sample):
        return decided
    if sum(map(len, _LETTERS.findall(sample))) < _SHORTEST:
        return UNDETERMINED
    language, probability = _ranked(sample)[0]
    return language if probability >= _CONFIDENT and len(language) == 2 else UNDETERMINED


def plausible_languages(text: str, among: Sequence[str]) -> list[str]:
    """Return those of `among` that a query may be in, likely ones first; never none if `among` has some.

    Documents of undetermined language may be in any, so `und` stays.
    """
    known = [language for language in among if language != UNDETERMINED]
    undetermined = [language for language in among if language == UNDETERMINED]
    if len(known) < 2:
        return [*known, *undetermined]
    if (decided := _by_script(text)) in known:
        return [decided, *undetermined]
    return [*_likely(text, known), *undetermined]


def _likely(text: str, known: Collection[str]) -> list[str]:
    scores = dict(_ranked(_sample(text)))
    highest = max(scores.get(language, 0.0) for language in known)
    chosen = [language for language in known if scores.get(language, 0.0) >= highest * _PLAUSIBLE]
    return sorted(chosen, key=lambda language: -scores.get(language, 0.0))


@lru_cache(maxsize=64)
def _by_script(sample: str) -> str:
    counts: Counter[str] = Counter()
    for found in _ONE_LANGUAGE.finditer(sample):
        counts[found.lastgroup or _MANY] += len(found.group())
    if not counts:
        return ""
    language, count = counts.most_common(1)[0]
    if language == _MANY or count * 2 < counts.total():
        return ""
    return "ja" if language == "zh" and len(_KANA.findall(sample)) >= count * _KANA_SHARE else language


def _sample(text: str) -> str:
    if len(text) <= 3 * _SLICE:
        return text
    middle = len(text) // 2
    return f"{text[:_SLICE]} {text[middle : middle + _SLICE]} {text[-_SLICE:]}"


@lru_cache(maxsize=64)
def _ranked(sample: str) -> list[tuple[str, float]]:
    merged: dict[str, float] = {}
    for language, probability in _identifier().rank(sample):
        name = _MACRO.get(language, language)
        merged[name] = merged.get(name, 0.0) + probability
    return sorted(merged.items(), key=lambda item: -item[1])


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
