"""How long a loop may go on. Nothing here depends on what a model says."""

import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from refdesk.context import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a loop may use."""

    max_iterations: int = 10
    """Turns of the controller."""
    tool_calls: int = 30
    """Calls that are run, those of parallel calls one by one."""
    repeats: int = 3
    """In how many turns the same call may come before the loop ends."""
    tokens: int | None = None
    """Of prompts and replies together."""
    cost: float | None = None
    """US dollars."""
    seconds: float = math.inf


@dataclass(slots=True)
class Meter:
    """What a loop has used so far."""

    limits: Limits
    began: float = field(default_factory=time.perf_counter)
    calls: int = 0
    _same: defaultdict[tuple[str, str], set[int]] = field(default_factory=lambda: defaultdict(set))
    stuck: str = ""
    """The call that came too often."""

    @property
    def seconds_left(self) -> float:
        return self.began + self.limits.seconds - time.perf_counter()

    def count(self, tool: str, arguments: Mapping[str, Any], iteration: int) -> bool:
        """Count a call; tell whether one was left for it. Equal calls of one turn are one repetition."""
        same = (tool, _canonical(arguments))
        self._same[same].add(iteration)
        if len(self._same[same]) >= self.limits.repeats:
            self.stuck = self.stuck or f"{tool} {same[1]:.200}"
        if self.calls >= self.limits.tool_calls:
            return False
        self.calls += 1
        return True

    def tokens_left(self, usage: Usage) -> int | None:
        """Return the tokens that are left, None where they are not limited."""
        if self.limits.tokens is None:
            return None
        return self.limits.tokens - usage.input_tokens - usage.output_tokens

    def spent(self, usage: Usage, *, prompt: int = 0) -> str:
        """Say which limit forbids another request with a prompt of so many tokens; empty where none does."""
        left = self.tokens_left(usage)
        if self.seconds_left <= 0:
            return f"its {self.limits.seconds:.3g} seconds are over"
        if left is not None and left <= prompt:
            return f"its {self.limits.tokens:,} tokens are used up"
        if self.limits.cost is not None and usage.cost >= self.limits.cost:
            return f"its ${self.limits.cost:g} are used up"
        return ""

    @property
    def exhausted(self) -> str:
        """Say which limit on calls was reached; empty where none was."""
        if self.stuck:
            return f"the same call came {self.limits.repeats} times: {self.stuck}"
        if self.calls >= self.limits.tool_calls:
            return f"its {self.limits.tool_calls} tool calls are used up"
        return ""


def _canonical(arguments: Mapping[str, Any]) -> str:
    """Return arguments as one text, the same for the same values; words alone count in texts."""
    plain = {key: " ".join(v.casefold().split()) if isinstance(v, str) else v for key, v in arguments.items()}
    return json.dumps(plain, sort_keys=True, default=str, ensure_ascii=False)
