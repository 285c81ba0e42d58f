"""Evidence to an answer whose statements are cited.

`Answerer` is the contract. Implementations:

- `extractive` (no model): quotes the sentences that answer the question best, `refdesk.answering.extractive`
- `generated`: a language model writes, the code cites, `refdesk.answering.generated`

Both refuse with a reason where the evidence does not hold an answer.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from refdesk.context import SCREENED, Evidence, NumberBy, Zone
from refdesk.documents import Pages
from refdesk.events import AnswerEvent

NOTHING_FOUND = "nothing_found"
"""Refusal: the search found no evidence."""
BELOW_THRESHOLD = "below_threshold"
"""Refusal: there is evidence, and it does not answer the question."""
BUDGET = "budget"
"""Refusal: there is evidence, and none of it fits what the model may read."""

REVIEW_REJECTED = "review_rejected"
"""Refusal: an answer was written, and a review rejected it."""

ABSTAINED = "abstained"
"""Refusal: the model was asked and found no answer in the evidence."""

GAVE_UP = "gave_up"
"""Refusal: a loop searched and gave up."""
UNFINISHED = "unfinished"
"""Refusal: a loop came to a limit before it answered."""

MODEL_UNAVAILABLE = "model_unavailable"
"""Refusal: there is evidence, and no model could write an answer from it."""

REFUSALS = (
    NOTHING_FOUND,
    BELOW_THRESHOLD,
    BUDGET,
    ABSTAINED,
    REVIEW_REJECTED,
    SCREENED,
    GAVE_UP,
    UNFINISHED,
    MODEL_UNAVAILABLE,
)
"""Every reason why an answer is none."""


class Answerer(Protocol):
    """Answer a question from numbered evidence."""

    @property
    def name(self) -> str:
        """What wrote the text, as `Answer.model` says it."""
        ...

    def stream(
        self,
        question: str,
        evidence: Sequence[Evidence],
        *,
        zone: Zone = "unknown",
        pages: Pages | None = None,
        number_by: NumberBy = "chunk",
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Give `Token` events, then one `Done`; the tokens joined are `answer.text`.

        `zone` says how far the evidence supports an answer, where that was measured before; `number_by` what
        citations share a number.
        Errors: `LLMError`.
        """
        ...
