"""What is wrong with an answer, in sentences for the model that writes it anew or reviews it."""

from refdesk.citations.markers import unmarked
from refdesk.support import Claim, Grounding

HOLDS = 0.5
"""Score that is enough where nothing is known of single statements."""
LONGEST = 300
"""Characters of a statement and of a quote that are shown."""
SOMETHING = "Some of it is not in the evidence. Keep to what the evidence says."


def objections(grounding: Grounding) -> tuple[str, ...]:
    """Return a sentence for each statement that the evidence does not hold, empty where it holds them all.

    Of a grounding without claims that were checked, the score tells.
    """
    wrong = tuple(
        _objection(one) for one in grounding.claims if one.support in ("unsupported", "contradicted")
    )
    if wrong or grounding.score is None or any(one.support != "unchecked" for one in grounding.claims):
        return wrong
    return () if grounding.score >= HOLDS else (SOMETHING,)


def _objection(claim: Claim) -> str:
    said = _shown(unmarked(claim.text))
    if claim.support == "unsupported":
        return f"{said} is not in the evidence."
    if claim.source is None:
        return f"{said} contradicts the evidence."
    evidence = f"{_shown(claim.source.quote)} [[{claim.source.number}]]"
    return f"{said} contradicts the evidence, which says: {evidence}."


def _shown(text: str) -> str:
    flat = " ".join(text.split())
    return f'"{flat if len(flat) <= LONGEST else flat[:LONGEST].rstrip() + " …"}"'
