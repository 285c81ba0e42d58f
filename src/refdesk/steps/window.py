"""How much evidence a language model can be shown beside a question."""

from refdesk.evidence import estimate_tokens
from refdesk.evidence.tokens import LEAST
from refdesk.settings import Settings

PROMPT = 500
"""Tokens of a step's own prompt, rather too many."""


def room(settings: Settings, *texts: str, output: int | None = None) -> int:
    """Return the tokens that the model's window leaves for evidence, beside some texts and the reply."""
    used = sum(estimate_tokens(text) for text in texts)
    return max(settings.llm_window - (output or settings.llm_output) - used - PROMPT, LEAST)
