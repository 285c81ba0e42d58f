"""Which measures are texts: those that only who asks for texts is told."""

import json
import re
from collections.abc import Mapping
from typing import Any

from refdesk.cleaning import visible
from refdesk.context import Measure

WORDS = frozenset({"call_id", "decision", "outcome", "terminated_by", "tool", "zone"})
"""Measures that are words of ours, or a name, and no text of a question, a model or a document."""
_NAME = re.compile(r"[\w.-]{1,64}\Z")


def figures(measures: Mapping[str, Measure]) -> dict[str, Measure]:
    """Return the measures that are no texts."""
    return {name: value for name, value in measures.items() if not is_text(name, value)}


def is_text(name: str, value: Measure) -> bool:
    """Tell a text. What should be a word and does not look like one is a text, too."""
    if isinstance(value, tuple):
        return True
    return isinstance(value, str) and not (name in WORDS and _NAME.match(value))


def as_text(arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a tool as JSON; empty where they are too deep for it."""
    try:
        return visible(json.dumps(dict(arguments), ensure_ascii=False, default=str))
    except (RecursionError, TypeError, ValueError):
        return ""
