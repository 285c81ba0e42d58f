"""Questions of every kind from the sentences themselves, without a model."""

import random
import string
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import regex

from refdesk.evaluation.generating.cloze import GAP, Cloze, candidates, shortest_gap, stop_words, told
from refdesk.evaluation.generating.drafts import Draft, Kind, Span
from refdesk.evaluation.generating.filtering import content, overlap
from refdesk.evaluation.generating.sharing import pairs
from refdesk.evaluation.generating.surveying import Passage, Survey
from refdesk.evaluation.safety.plainwords import plain
from refdesk.grounding.names import names

JOINED = {"en": ", and ", "de": ", und ", "fr": ", et "}
THAT = {"en": "it", "de": "das", "fr": "cela"}
MOST_TURNS = 8
"""Questions of a document that are held against each other for a conversation."""
OPENED = 6
"""Words of a question, its frame among them, where the name of what it is about is looked for."""
ALIKE = 0.5
"""Share of the words of two sentences from which on they say much the same."""
_NAME = regex.compile(r"[\p{L}\p{N}]+(?:[-.][\p{L}\p{N}]+)*")
_ARTICLE = r"(?:(?:the|an?|der|die|das|ein|eine|le|la|les|une?)\s+|l['’])?"
_FIGURE = regex.compile(r"(?<![\p{L}\p{N}.,])\p{Nd}{1,6}(?![\p{L}\p{N}]|[.,]\p{Nd})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A question from a sentence, and where that stands."""

    passage: Passage
    cloze: Cloze
    span: Span

    def draft(self, kind: Kind, key: str) -> Draft:
        return Draft(
            key=f"{kind}:{key}",
            kind=kind,
            language=self.passage.language,
            by="words" if self.cloze.by_words else "gap",
            question=self.cloze.question,
            answer=self.cloze.answer,
            spans=(self.span,),
        )


class Extracting:
    """Makes drafts of passages; `max_overlap` bounds how much of a sentence its question may repeat."""

    def __init__(self, survey: Survey, *, max_overlap: float, seed: int) -> None:
        passages = survey.passages
        self._passages, self._most, self._seed = passages, max_overlap, seed
        self._repeated = survey.repeated
        self._texts = {one.source_id: one.whole for one in passages}
        self._found: dict[str, tuple[Found, ...]] = {}
        self._spread = Counter(word for text in self._texts.values() for word in set(plain(text).split()))

    def drafts(self, kind: Kind) -> Iterator[Draft]:
        """Yield drafts of a kind, a passage or pair of passages at a time."""
        makers = {
            "single": self._single,
            "multi": self._multi,
            "unanswerable": self._unanswerable,
            "conversation": self._conversation,
        }
        return makers[kind]()

    def of(self, passage: Passage) -> tuple[Found, ...]:
        """Return the questions of a passage, the best one of each sentence, wh-questions first."""
        if passage.chunk_id not in self._found:
            every = [
                found for span in passage.sentences if (found := self._best(passage, span.start, span.end))
            ]
            every.sort(key=lambda one: not one.cloze.by_words)
            self._found[passage.chunk_id] = tuple(every)
        return self._found[passage.chunk_id]

    def _best(self, passage: Passage, start: int, end: int) -> Found | None:
        quote = passage.whole[start:end]
        if plain(quote) in self._repeated:
            return None
        span = Span(document=passage.source_id, quote=quote, start=start)
        every = candidates(quote, passage.language, passage.whole)
        for cloze in sorted(every, key=lambda one: (not one.by_words, self._spread_of(one.answer))):
            if bounded := self._bounded(cloze, quote, passage.language):
                return Found(passage=passage, cloze=bounded, span=span)
        return None

    def _spread_of(self, answer: str) -> int:
        """Return in how many documents an answer stands; what stands in few is harder to guess."""
        return min((self._spread[word] for word in plain(answer).split()), default=0)

    def _bounded(self, cloze: Cloze, quote: str, language: str) -> Cloze | None:
        """Return a question that repeats no more of its sentence than it may; a gap gets less around it."""
        if overlap(cloze.question, [quote], language) <= self._most:
            return cloze
        if cloze.by_words:
            return None
        for question in shortest_gap(told(quote), cloze.answer, language):
            if overlap(question, [quote], language) <= self._most:
                return replace(cloze, question=question)
        return None

    def _single(self) -> Iterator[Draft]:
        for passage in self._passages:
            for place, found in enumerate(self.of(passage)[:2]):
                yield found.draft("single", f"{passage.chunk_id}:{place}")

    def _multi(self) -> Iterator[Draft]:
        """Join two questions on what shares a rare word, of two documents where there are any."""
        every = [found for passage in self._passages for found in self.of(passage)]
        for first, second in pairs([(one, one.passage, one.span.quote) for one in every]):
            if _alike(first, second):
                continue
            language = first.passage.language
            one, other = first.cloze.question, second.cloze.question
            question = f"{one} {other}"
            if language in JOINED:
                question = f"{one.rstrip('?').rstrip()}{JOINED[language]}{other[0].lower()}{other[1:]}"
            key = f"{first.passage.chunk_id}:{second.passage.chunk_id}"
            yield replace(
                first.draft("multi", key),
                question=question,
                answer=f"{first.cloze.answer}; {second.cloze.answer}",
                spans=(first.span, second.span),
            )

    def _unanswerable(self) -> Iterator[Draft]:
        """Ask about a name or a figure that no document has, in the place of one that some has."""
        drawn = random.Random(self._seed)
        everything = "\n".join(self._texts.values())
        for passage in self._passages:
            changed, draft = "", None
            for found in self.of(passage):
                draft = draft or found.draft("unanswerable", passage.chunk_id)
                if changed := self._invented(found, everything, drawn):
                    break
            if draft:
                dropped = "" if changed else "it has no name or figure that another could stand for"
                question = changed or draft.question
                yield replace(draft, question=question, answer="", spans=(), dropped=dropped)

    def _invented(self, found: Found, everything: str, drawn: random.Random) -> str:
        """Return a question about another thing, empty where what it is about is not told before the gap."""
        question = found.cloze.question
        about = found.cloze.subject if found.cloze.by_words else question.partition(GAP)[0]
        opening = " ".join(about.split()[:OPENED])
        own = [word for word in names(found.span.quote, found.passage.language) if word in opening]
        own = [*_of_title(found, about, found.passage.language), *own]
        own += [one for one in [_name_of(found.cloze.subject)] if one]
        if named := [one for one in own if question.count(one) == 1]:
            return question.replace(named[0], other_name(named[0], everything, drawn))
        figures = [one.group() for one in _FIGURE.finditer(about) if question.count(one.group()) == 1]
        if figures:
            return question.replace(figures[-1], other_figure(figures[-1], everything, drawn))
        return ""

    def _conversation(self) -> Iterator[Draft]:
        """Ask twice about one thing, the second time without naming it."""
        by_document: dict[str, list[Found]] = defaultdict(list)
        for passage in self._passages:
            by_document[passage.source_id] += self.of(passage)
        for every in by_document.values():
            for first, second in combinations(every[:MOST_TURNS], 2):
                if draft := self._followed(first, second):
                    yield draft
                    break

    def _followed(self, first: Found, second: Found) -> Draft | None:
        language = first.passage.language
        topic = _topic(first, second, language)
        if not topic or first.cloze.answer == second.cloze.answer:
            return None
        that = THAT.get(language, "…")
        pattern = regex.compile(rf"(?i)(?<![\w/-]){_ARTICLE}{regex.escape(topic)}(?![\w/:-])")
        question, count = pattern.subn(that, second.cloze.question)
        if count != 1 or topic.casefold() in question.casefold() or f"{that} {GAP}" in question:
            return None
        key = f"{first.passage.chunk_id}:{first.span.start}:{second.span.start}"
        draft = second.draft("conversation", key)
        return replace(draft, question=question, history=((first.cloze.question, first.cloze.answer),))


def _alike(first: Found, second: Found) -> bool:
    one, other = (content(found.span.quote, found.passage.language) for found in (first, second))
    same = plain(first.cloze.answer) == plain(second.cloze.answer)
    return same or len(one & other) >= ALIKE * min(len(one), len(other))


def _name_of(subject: str) -> str:
    """Return the last word of a subject that is written with a capital."""
    return next((word for word in reversed(subject.split()) if word[:1].isupper()), "")


def _topic(first: Found, second: Found, language: str) -> str:
    """Return what both questions name: the second's subject, or a word of the title; empty for nothing."""
    subject = second.cloze.subject.split(" ", 1)[-1] if second.cloze.subject else ""
    about, taken = plain(first.cloze.question).split(), {first.cloze.answer, second.cloze.answer}
    topics = [subject, *_of_title(second, second.cloze.question, language)]
    return next(
        (one for one in topics if one and one not in taken and set(plain(one).split()) <= set(about)), ""
    )


def _of_title(found: Found, text: str, language: str) -> list[str]:
    """Return the words of a text that stand in the document's title and say something."""
    title = set(plain(found.passage.title).split()) - stop_words(language)
    return [word for word in _NAME.findall(text) if len(word) > 2 and plain(word) in title]


def other_name(name: str, everything: str, drawn: random.Random) -> str:
    """Return a name that sounds alike and stands in none of the texts."""
    known, vowels = everything.casefold(), "aeiou"
    for _ in range(200):
        changed = "".join(
            _other_sign(sign, vowels, drawn) if place else sign for place, sign in enumerate(name)
        )
        differing = sum(one != other for one, other in zip(name, changed, strict=True))
        if changed.casefold() not in known and differing * 3 >= len(name):
            return changed
    return f"{name}{drawn.choice(vowels)}{drawn.choice('nrstl')}"


def _other_sign(sign: str, vowels: str, drawn: random.Random) -> str:
    if sign.isdigit():
        return drawn.choice(string.digits)
    if sign.casefold() in vowels:
        other = drawn.choice(vowels)
        return other.upper() if sign.isupper() else other
    if sign.isalpha() and sign.isascii() and drawn.random() < 0.5:
        other = drawn.choice("bdfgklmnprstv")
        return other.upper() if sign.isupper() else other
    return sign


def other_figure(figure: str, everything: str, drawn: random.Random) -> str:
    """Return a figure with as many digits that stands in none of the texts, else a longer one."""
    for size in (len(figure), len(figure) + 1, len(figure) + 2):
        for _ in range(100):
            other = "".join(drawn.choices(string.digits[1:], k=size))
            if other not in everything:
                return other
    return f"{figure}0000"
