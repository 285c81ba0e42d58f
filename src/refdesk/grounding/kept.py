"""Token vectors of texts, those of the last texts kept."""

from collections.abc import Sequence

import regex

from refdesk.embedding import TokenEmbedder, TokenVectors

TOKENS = 16_384
"""Tokens whose vectors are kept: 25 MB of MiniLM's."""
_LONE = regex.compile(r"[\ud800-\udfff]")


class KeptVectors:
    """Remembers the vectors of evidence, since drafts of one answer are judged by the same."""

    def __init__(self, tokens: int = TOKENS) -> None:
        self._most = tokens
        self._known: dict[str, TokenVectors] = {}

    @property
    def tokens(self) -> int:
        """How many tokens it remembers."""
        return sum(len(one.offsets) for one in self._known.values())

    async def read(
        self, answer: str, evidence: Sequence[str], embedder: TokenEmbedder
    ) -> tuple[TokenVectors, list[TokenVectors]]:
        """Return the token vectors of an answer, which are not kept, and of texts of evidence."""
        known = {text: self._known[text] for text in evidence if text in self._known}
        lacking = [text for text in dict.fromkeys(evidence) if text not in known]
        whole = map(_replaced, (answer, *lacking))
        own, *fresh = await embedder.embed_tokens(list(whole))
        known |= zip(lacking, fresh, strict=True)
        self._keep(known)
        return own, [known[text] for text in evidence]

    def _keep(self, used: dict[str, TokenVectors]) -> None:
        """Keep what was used last, as far as there is room."""
        for text, vectors in used.items():
            self._known.pop(text, None)
            self._known[text] = vectors
        room, kept = self._most, {}
        for text, vectors in reversed(self._known.items()):
            room -= len(vectors.offsets)
            if room < 0:
                break
            kept[text] = vectors
        self._known = dict(reversed(kept.items()))


def _replaced(text: str) -> str:
    """Return a text of the same length without lone surrogates, which no tokenizer reads."""
    return _LONE.sub("\ufffd", text)
