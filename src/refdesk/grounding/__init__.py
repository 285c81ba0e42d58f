"""How far an answer is held by its evidence.

`Grounder` is the contract. Implementations:

- `local` (default): token vectors of MiniLM and relations of words, in English; `alignment`, `wording` and
  `relations` are its parts
- `lexical`: words, word pairs, numbers and names of each sentence, no model needed
- `judged`, named `judge`: a language model judges claim by claim
- `entailment` and `tokenwise`, named `nli:FOLDER`: a classifier in a local folder judges sentences or tokens

`named` turns names into grounders, `opening` folders into classifiers.

`stating` reads what a sentence says, with `figures` and `names`; `conflicts` and `negation` find what
says another thing.

`claims` makes statements of what was judged, each with its support, its best source and its markers: `pieces`
cuts the answer, `carrying` finds whose a marker is, `attribution` which chunks hold a statement. `objections`
says in words what does not hold.

"Could not be checked" is a value of its own, `Grounding.score` None, never a good score.
"""

from collections.abc import Sequence
from typing import Protocol

from refdesk.documents import Hit
from refdesk.support import Grounding


class Grounder(Protocol):
    """Judge the spans of an answer's text by hits: offsets count the text's characters."""

    async def ground(self, answer: str, hits: Sequence[Hit]) -> Grounding: ...


def unchecked(reason: str, grounder: str) -> Grounding:
    """Return the grounding of an answer that could not be checked."""
    return Grounding(score=None, reason=reason, grounder=grounder)
