"""What was said before, as messages to a model.

What a model said may repeat a document, so it never becomes a rule: not in the words of a system message, and
not as tags or control tokens.
"""

from collections.abc import Callable, Sequence

from refdesk.citations.markers import unmarked
from refdesk.context import Turn
from refdesk.evidence import estimate_tokens, neutralise, quoted
from refdesk.llm import Message


def recent(
    turns: Sequence[Turn], budget: int, *, count: Callable[[str], int] = estimate_tokens
) -> tuple[Turn, ...]:
    """Return the last turns that fit `budget` tokens together."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        budget -= count(turn.text)
        if budget < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))


def said_before(turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Return turns as messages, from the first that a user said, since models refuse to begin with another.

    Markers of earlier answers are left out: their numbers are those of other evidence.
    """
    spoken = [turn for turn in turns if turn.text.strip()]
    first = next((place for place, turn in enumerate(spoken) if turn.role == "user"), len(spoken))
    return tuple(
        Message(turn.role, neutralise(unmarked(turn.text)) if turn.role == "assistant" else turn.text)
        for turn in spoken[first:]
    )


def rejection(reason: str) -> str:
    """Say in a user's message why a review rejected an earlier answer; empty without a reason."""
    return f"A review rejected an earlier answer. What it said:\n{quoted(reason)}\n\n" if reason else ""
