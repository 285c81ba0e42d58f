"""Whether two queries ask for the same."""

import unicodedata
from collections.abc import Iterable

SIGNS = "?!.,;:'\"`“”„‘’‚«»‹›()[]{}<>-–—…¿¡。、，？！；：「」『』"
"""What stands around words and does not change what is searched for."""


def tried(query: str, others: Iterable[str]) -> bool:
    """Tell whether a query is one of some others, but for case, punctuation and white space."""
    return plain(query) in {plain(one) for one in others}


def plain(query: str) -> str:
    """Return the words of a query without the signs around them; `C#` and `C++` stay what they are."""
    words = unicodedata.normalize("NFKC", query).casefold().split()
    return " ".join(bare for word in words if (bare := word.strip(SIGNS))) or query.strip()
