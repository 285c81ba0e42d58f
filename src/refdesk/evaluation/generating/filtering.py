"""What keeps a question out of a test set: form, language, copied words, another like it, no way back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import regex

from refdesk.analysis import analyse, detect_language
from refdesk.analysis.languages import plausible_languages
from refdesk.desk import Desk
from refdesk.embedding import Embedder
from refdesk.evaluation.datasets.cases import Gold
from refdesk.evaluation.generating.surveying import words
from refdesk.evaluation.safety.plainwords import plain
from refdesk.grounding.stopwords import STOP_WORDS

ALIKE = 0.95
"""Cosine of two questions from which on one of them is left out."""
EASY, HARD = 0.5, 0.25
"""Shares of the gold's words in the question: from the first on it is easy, below the second hard."""
LONGEST = 400
"""Characters of a question."""
_LEADING = regex.compile(
    r"(?i)^(?:according to|based on|in|from|per)\s+(?:the|this)\s+"
    r"(?:given\s+|above\s+|provided\s+)?(?:passage|text|document|excerpt|paragraph|article|context|section)s?"
    r"(?:\s+(?:above|below|provided|given))?\s*[,:]\s*"
    r"|^(?:laut|gemäß|nach|in)\s+(?:dem|diesem|der|dieser)\s+(?:Text|Abschnitt|Dokument|Passage|Artikel|Auszug)\s*[,:]?\s*"
    r"|^(?:selon|d['’]après|dans)\s+(?:le|ce|cet|l['’])\s*(?:texte|passage|document|extrait|article)\s*[,:]?\s*"
)
_POINTING = regex.compile(
    r"(?i)\b(?:(?:the|this)\s+(?:given\s+|above\s+)?(?:passage|excerpt|paragraph)|mentioned above|"
    r"(?:in|by|according to|from)\s+(?:the|this)\s+(?:text|document|article|context)|"
    r"(?:im|dem|diesem|den)\s+(?:\w+en\s+)?(?:Text|Abschnitt|Auszug)|(?:ce|le|cet)\s+(?:texte|passage|extrait))\b"
)


def unled(question: str) -> str:
    """Return a question without a beginning such as "According to the passage,"."""
    bare = _LEADING.sub("", " ".join(question.split()))
    return bare[:1].upper() + bare[1:] if bare != question else question


def malformed(question: str, language: str) -> str:
    """Return what is wrong with the form of a question, empty where nothing is."""
    if len(words(question)) < 3:
        return "the question is too short"
    if len(question) > LONGEST:
        return f"the question has more than {LONGEST} characters"
    if _POINTING.search(question):
        return "the question points to a passage that nobody has before them"
    found = detect_language(question)
    if "und" in (found, language) or found in plausible_languages(question, [language]):
        return ""
    likely = plausible_languages(question, sorted({language, found}))
    return "" if language in likely else f"the question is in {found!r}, the document in {language!r}"


def content(text: str, language: str) -> frozenset[str]:
    """Return the words of a text that say something, as they are searched for."""
    stops = STOP_WORDS.get(language, frozenset())
    kept = " ".join(word for word in words(text) if word.casefold() not in stops)
    return frozenset(analyse(kept, language))


def overlap(question: str, golds: Iterable[str], language: str) -> float:
    """Return the share of the gold's words that the question has, 0 to 1."""
    wanted = content(" ".join(golds), language)
    return len(wanted & content(question, language)) / len(wanted) if wanted else 0.0


def difficulty(share: float) -> str:
    """Return how hard a question with this overlap is: `easy`, `medium` or `hard`."""
    return "easy" if share >= EASY else "hard" if share < HARD else "medium"


@dataclass(slots=True)
class Doubles:
    """Questions that are kept, and whether another one is like one of them."""

    embedder: Embedder
    texts: dict[str, str] = field(default_factory=dict)
    """Question in plain words to the question."""
    vectors: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def like(self, question: str) -> str:
        """Return a kept question that says the same, empty for none; then this one is kept."""
        same = self.texts.get(plain(question))
        if same is not None:
            return same
        [vector] = await self.embedder.embed_queries([question])
        if self.vectors:
            cosines = np.stack(self.vectors) @ vector
            nearest = int(np.argmax(cosines))
            if cosines[nearest] >= ALIKE:
                return self.asked[nearest]
        self.texts[plain(question)] = question
        self.vectors.append(vector)
        self.asked.append(question)
        return ""


async def ranks(
    desk: Desk, collection: str, query: str, golds: Sequence[Gold], top_k: int
) -> Mapping[Gold, int | None]:
    """Return at which rank a search finds each gold span, None for beyond `top_k`.

    A chunk finds a span where it holds at least half of it.
    """
    found = await desk.search(query, collections=collection, top_k=top_k)
    places = [(hit.source_id, hit.chunk.start, hit.chunk.end) for hit in found.hits]
    return {gold: _rank(gold, places) for gold in golds}


def _rank(gold: Gold, places: Sequence[tuple[str, int, int]]) -> int | None:
    start, length = gold.start or 0, len(gold.quote)
    for rank, (source, first, last) in enumerate(places, 1):
        held = min(last, start + length) - max(first, start)
        if source == gold.document and held * 2 >= length:
            return rank
    return None
