"""Which language a question, and what was found in it, is in."""

from collections.abc import Iterable, Iterator

from refdesk.analysis import detect_language
from refdesk.analysis.languages import UNDETERMINED

AROUND = 80
"""Bytes before and after a finding that tell its language."""

_WRITTEN = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv
dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie
ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv
mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm
rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts
tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
CODES = frozenset(_WRITTEN.split())
"""ISO 639-1."""


def maybe(text: str, languages: tuple[str, ...]) -> bool:
    """Tell whether a text is in one of some languages, or in one that cannot be told."""
    return detect_language(text) in (*languages, UNDETERMINED)


def places(spans: Iterable[tuple[int, int]], size: int) -> Iterator[slice]:
    """Yield what surrounds findings, one for those that are close to each other."""
    seen = -AROUND
    for start, end in spans:
        if start >= seen:
            yield slice(max(start - AROUND, 0), min(end + AROUND, size))
            seen = start + AROUND // 2
