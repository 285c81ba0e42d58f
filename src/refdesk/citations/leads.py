"""What the desk itself says before what it quotes; no evidence has to hold it."""

WEAK_LEAD = "This is the closest that the documents come to it:"


def without_lead(text: str) -> str:
    """Return a text of the same length, blanks in the place of the desk's own words."""
    return " " * len(WEAK_LEAD) + text[len(WEAK_LEAD) :] if text.startswith(WEAK_LEAD) else text
