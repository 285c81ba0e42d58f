"""Questions from sentences, without a model: by wh-words where the form of a sentence is safe, else a gap.

Asked for is a figure or a name. Wh-questions are made in English, German and French, of sentences whose
subject and verb stand where they are surely told; all others get a gap, in every language.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from refdesk.answering.showing import shown
from refdesk.evaluation.generating.whwords import Asked, asked_by_words
from refdesk.grounding.names import names
from refdesk.grounding.stopwords import STOP_WORDS

SHORTEST, LONGEST = 5, 45
"""Words of a sentence."""
GAP = "____"
OPENING = 2
"""Words of the beginning, where the subject is, that stay where what follows them is left out."""
FRAMES = {
    "en": "What completes “{}”?",
    "de": "Was ergänzt „{}“?",
    "fr": "Qu'est-ce qui complète « {} » ?",
    "es": "¿Qué completa «{}»?",
    "it": "Che cosa completa «{}»?",
    "pt": "O que completa “{}”?",
    "nl": "Wat vult “{}” aan?",
}
OTHER_FRAME = "“{}”?"
LEANING = {
    "en": "it this that these those he she they we you i its their his her however but and or so also then "
    "here there such thus therefore otherwise instead both another",
    "de": "er sie es wir ihr dies diese dieser dieses jene damit dabei dadurch daher außerdem jedoch aber "
    "und oder dann hier dort so auch deshalb sonst beide sein seine",
    "fr": "il elle ils elles on nous vous je ce cela ceci cette ces cet mais et ou donc ensuite ainsi aussi "
    "ici là sinon alors leur leurs son sa ses",
}
"""First words of sentences that lean on the one before."""
_LEANING = {language: frozenset(given.split()) for language, given in LEANING.items()}
_END = regex.compile(r"[.!。！।۔][\"'”’»)\]]*$")
_CODE = regex.compile(r"[{}<>=|\\`~^$#*_\[\]]|https?:|://|\w\(|\.\.|--")
_FIGURE = regex.compile(
    r"(?<![\p{L}\p{N}.,:/-])(?:[$€£¥]\s?)?\p{Nd}+(?:[.,:]\p{Nd}+)*(?:\s?[%‰€$£¥°])?(?![\p{L}\p{N}/-]|[.,:]\p{Nd})"
)
_UNSPACED_FIGURE = regex.compile(r"\p{Nd}+(?:[.,:]\p{Nd}+)*%?")
_REFERENCE = regex.compile(r"\[([^\[\]!^]+)\](?:\s?\[[^\[\]]*\])?")
_SPACED = regex.compile(r"\S+\s*")
_SIGN = regex.compile(r".", regex.DOTALL)
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloze:
    """A question, and what answers it."""

    question: str
    answer: str
    subject: str = ""
    """What it is about, as it stands in the question; empty where that is not sure."""
    by_words: bool = False
    """Whether it asks by a wh-word, not by a gap."""


def candidates(sentence: str, language: str, text: str = "") -> Iterator[Cloze]:
    """Yield questions that a sentence answers, the better ones first; `text` is the document around it."""
    plain = told(sentence)
    if not usable(plain, language):
        return
    for one in asked_by_words(plain, language, text):
        yield _by_words(one)
    for answer in answers(plain, language):
        if plain.count(answer) == 1:
            yield Cloze(question=gapped(plain, answer, language), answer=answer)


def told(sentence: str) -> str:
    """Return a sentence without mark-up, links and references."""
    return _REFERENCE.sub(r"\1", shown(sentence))


def usable(sentence: str, language: str) -> bool:
    """Tell whether a sentence states something that can be understood by itself."""
    found = sentence.split()
    unspaced = bool(_UNSPACED.search(sentence))
    if not _END.search(sentence) or _CODE.search(sentence):
        return False
    if not (SHORTEST <= len(found) <= LONGEST) and not (unspaced and 8 <= len(sentence) <= 150):
        return False
    first = regex.sub(r"\W", "", found[0]).casefold()
    return first not in _LEANING.get(language, frozenset())


def answers(sentence: str, language: str) -> Iterator[str]:
    """Yield what of a sentence can be asked for: figures, then names, words of one name together."""
    unspaced = bool(_UNSPACED.search(sentence))
    for found in (_UNSPACED_FIGURE if unspaced else _FIGURE).finditer(sentence):
        if found.start() > 0:
            yield found.group().strip()
    own = set() if unspaced else set(names(sentence, language))
    run: list[str] = []
    for word in regex.findall(r"[\p{L}\p{M}\p{N}'’]+|[^\p{L}\p{M}\p{N}\s'’]+", sentence):
        if word in own:
            run.append(word)
        elif run:
            yield from _together(run, sentence)
            run = []
    yield from _together(run, sentence)


def _together(run: list[str], sentence: str) -> Iterator[str]:
    name = " ".join(run)
    if run and name in sentence and len(name) > 2:
        yield name


def gapped(sentence: str, answer: str, language: str, *, keep: int | None = None) -> str:
    """Return a sentence with a gap for the answer; of its words, at most `keep` around the gap."""
    units = _units(sentence)
    at = sentence.index(answer)
    inside = [place for place, (start, end) in enumerate(units) if start < at + len(answer) and at < end]
    first, last = inside[0], inside[-1]
    room = max(0, len(units) - len(inside)) if keep is None else keep
    left = min(first, (room + 1) // 2)
    right = min(len(units) - 1 - last, room - left)
    left = min(first, room - right - (OPENING if first > room - right > 2 * OPENING else 0))
    start, end = units[first - left][0], units[last + right][1]
    text = f"{sentence[start:at]}{GAP}{sentence[at + len(answer) : end]}".strip()
    text = regex.sub(r"[.。।۔]$", "", text)
    gone = first - left > OPENING and room > 2 * OPENING
    opening = sentence[: units[OPENING - 1][1]].strip() if gone else ""
    text = f"{opening}{' … ' if opening else '… ' if start else ''}{text}"
    text = f"{text}{' …' if last + right < len(units) - 1 else ''}"
    return FRAMES.get(language, OTHER_FRAME).format(text)


def shortest_gap(sentence: str, answer: str, language: str) -> Iterator[str]:
    """Yield the gap with less and less of the sentence around it, down to four words."""
    for keep in range(len(_units(sentence)), 3, -1):
        yield gapped(sentence, answer, language, keep=keep)


def _units(sentence: str) -> list[tuple[int, int]]:
    """Return the places of words, or of signs where a script has no blanks."""
    units = _SIGN if _UNSPACED.search(sentence) else _SPACED
    return [found.span() for found in units.finditer(sentence)]


def _by_words(one: Asked) -> Cloze:
    return Cloze(question=one.question, answer=one.answer, subject=one.subject, by_words=True)


def stop_words(language: str) -> frozenset[str]:
    """Return words that say nothing by themselves."""
    return STOP_WORDS.get(language, frozenset())
