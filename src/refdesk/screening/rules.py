"""What a rule is, and what comes of rules."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import ConfigDict, Field

Action = Literal["refuse", "flag"]
ACTIONS: tuple[Action, ...] = get_args(Action)
DECLINED = "I cannot help with this question."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One condition on a question; what it does not state, it does not ask about."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    id: str
    action: Action = "refuse"
    pattern: str = ""
    """A regular expression that is found somewhere in the question, letter case aside."""
    any_of: tuple[str, ...] = ()
    """Words or phrases of which one is found, as whole words."""
    languages: tuple[str, ...] = ()
    """ISO 639-1 codes: it does not apply to what is known to be in another language."""
    longer_than: Annotated[int, Field(ge=0)] | None = None
    """Characters, as they were sent."""
    shorter_than: Annotated[int, Field(ge=1)] | None = None
    """Characters that are seen."""
    hidden: bool = False
    """Whether characters that hide or turn around what is said are found."""
    reply: str = DECLINED
    """What the one who asks is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """What came of the rules."""

    allowed: bool
    rule: str = ""
    """The id of the rule that turned the question away."""
    reply: str = ""
    flags: tuple[str, ...] = ()
    """Rules that noted something and let it pass."""
