"""The words for what an agentic loop did: calls of tools, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TerminatedBy = Literal["answered", "gave_up", "max_iterations", "error", "budget", "cancelled"]
"""How a loop ended: by `answer` or `give_up`, at its cap, because the model failed, at another limit (calls,
tokens, cost, time, repetitions), or because it was broken off."""

ToolOutcome = Literal["done", "error", "repeated", "refused"]
"""`error`: the model is told what was wrong; `repeated`: answered from what was found before; `refused`: not
run, because a limit was reached or the loop had ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One call of a tool, as it went."""

    tool: str
    """Its name as the model wrote it; `synthesis` for the answer that is made at a limit."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """As they were used; what could not be read is under `raw`."""
    iteration: int
    """Turn of the controller, from 1."""
    call_id: str = ""
    outcome: ToolOutcome = "done"
    summary: str = ""
    """What the model was told."""
    returned_chunk_ids: tuple[str, ...] = ()
    """All that it found, also what was found before or did not stay."""
    seconds: float = 0.0
