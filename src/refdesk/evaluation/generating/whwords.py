"""Questions with wh-words from sentences whose subject and verb are surely told: English, German, French."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

ARTICLES = {
    "en": frozenset({"the", "a", "an", "each", "every", "all"}),
    "de": frozenset({"der", "die", "das", "ein", "eine", "jeder", "jede", "jedes", "alle"}),
    "fr": frozenset({"le", "la", "les", "un", "une", "chaque"}),
}
LONGEST_SUBJECT = 8
"""Words."""
_YEAR = r"(?P<answer>1[0-9]{3}|20[0-9]{2})"
_SUBJECT = r"(?P<subject>[\p{L}\p{N}'’][^,;:()]*?)"
_AMOUNT = r"(?P<answer>(?:[$€£]\s?)?\p{Nd}[\p{Nd}.,]*(?:\s?[%€$£°])?(?:\s[\p{L}/]+){0,2})"
_COUNT = r"(?P<answer>\p{Nd}+)"
_REST = r"(?P<rest>[^,;:()]{3,80}?)"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and what it is about."""

    question: str
    answer: str
    subject: str


Make = Callable[[Mapping[str, str]], str]
Form = tuple[regex.Pattern[str], Make]


def _form(pattern: str, template: str) -> Form:
    return regex.compile(f"^{pattern}[.!]$"), template.format_map


def _how_many(found: Mapping[str, str]) -> str:
    does = "does" if found["verb"] == "has" else "do"
    return f"How many {found['what']} {does} {found['subject']} have?"


FORMS: Mapping[str, Sequence[Form]] = {
    "en": (
        _form(rf"{_SUBJECT} (?P<verb>was|were) {_REST} in {_YEAR}", "In which year {verb} {subject} {rest}?"),
        (regex.compile(rf"^{_SUBJECT} (?P<verb>has|have) {_COUNT} (?P<what>[\p{{L}} -]*s)[.!]$"), _how_many),
        _form(rf"{_SUBJECT} costs {_AMOUNT}", "How much does {subject} cost?"),
        _form(rf"{_SUBJECT} takes {_AMOUNT}", "How long does {subject} take?"),
        _form(rf"{_SUBJECT} (?P<verb>is|was) {_AMOUNT}", "What {verb} {subject}?"),
    ),
    "de": (
        _form(
            rf"{_SUBJECT} (?P<verb>wurde|wurden|war|waren) (?:im Jahre? )?{_YEAR} {_REST}",
            "In welchem Jahr {verb} {subject} {rest}?",
        ),
        _form(rf"{_SUBJECT} (?P<verb>kostet|kosten) {_AMOUNT}", "Wie viel {verb} {subject}?"),
        _form(rf"{_SUBJECT} (?P<verb>dauert|dauern) {_AMOUNT}", "Wie lange {verb} {subject}?"),
        _form(rf"{_SUBJECT} (?P<verb>beträgt|betragen) {_AMOUNT}", "Wie viel {verb} {subject}?"),
    ),
    "fr": (
        _form(
            rf"{_SUBJECT} (?P<verb>a été|ont été|fut|furent) {_REST} en {_YEAR}",
            "En quelle année est-ce que {subject} {verb} {rest} ?",
        ),
        _form(rf"{_SUBJECT} (?P<verb>coûte|coûtent) {_AMOUNT}", "Combien {verb} {subject} ?"),
        _form(rf"{_SUBJECT} (?P<verb>dure|durent) {_AMOUNT}", "Combien de temps {verb} {subject} ?"),
        _form(
            rf"{_SUBJECT} (?P<verb>compte|comptent) {_COUNT} (?P<what>[\p{{L}} -]+s)",
            "Combien de {what} {verb} {subject} ?",
        ),
    ),
}


def asked_by_words(sentence: str, language: str, text: str) -> Iterator[Asked]:
    """Yield the questions whose form fits; `text` tells whether a first word is a name."""
    for pattern, make in FORMS.get(language, ()):
        found = pattern.match(sentence)
        subject = subject_of(found["subject"], language, text) if found else ""
        if found and subject and found["answer"] not in subject:
            question = make({**found.groupdict(), "subject": subject})
            yield Asked(question=question, answer=found["answer"].strip(), subject=subject)


def subject_of(words: str, language: str, text: str) -> str:
    """Return a subject as it stands within a sentence; empty where it may be none."""
    first, _, rest = words.partition(" ")
    if len(words.split()) > LONGEST_SUBJECT:
        return ""
    if first.casefold() in ARTICLES[language] and rest:
        return f"{first[0].lower()}{first[1:]} {rest}"
    if language == "fr" and regex.match(r"L['’]\p{L}", words):
        return f"l{words[1:]}"
    return words if _is_name(first, text) else ""


def _is_name(word: str, text: str) -> bool:
    """Tell a word that the text never writes in small letters."""
    if not word[:1].isupper() and not any(sign.isdigit() for sign in word):
        return False
    return regex.search(rf"(?<!\w){regex.escape(word.lower())}(?!\w)", text) is None or word.lower() == word
