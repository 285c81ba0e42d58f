"""Where a statement says another thing than a passage on the same matter: other numbers, names, or "not"."""

from refdesk.grounding.figures import values
from refdesk.grounding.names import names
from refdesk.grounding.negation import denied
from refdesk.grounding.stating import MARKER, Passage, Statement

ALIKE = 0.6
"""Share of a statement's words that a passage must have to be on the same matter."""


def contradicts(sentence: str, passage: str, language: str) -> bool:
    """Tell whether a passage is on the matter of a sentence, and has another number, name or negation.

    A number or a name that the passage merely lacks is an addition, no contradiction: it has to have one of
    its own in its place.
    """
    said, found = Statement.of(sentence, language), Passage.of(passage, language)
    alike = said.share_in(found) >= ALIKE
    return (alike and _replaced(said, sentence, found, language)) or denied(sentence, [passage], language)


def _replaced(said: Statement, sentence: str, found: Passage, language: str) -> bool:
    """Tell whether a passage has another number or name where a statement has its own."""
    foreign = said.foreign(found)
    if not foreign:
        return False
    numbers = any(character.isnumeric() for one in foreign for character in one)
    bare = MARKER.sub(" ", sentence)
    if numbers:
        return bool(found.numbers - values(bare))
    own = frozenset(one.casefold() for one in names(bare, language))
    return any(one.casefold() not in own for one in names(found.text.strip(), language))
