"""Texts to token ids, with nothing cut off.

A text longer than the model's input becomes several windows; whoever embeds decides what that means.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from refdesk.errors import InputError, ModelError

PROBE = "a"


@dataclass(frozen=True, slots=True)
class Window:
    """One input of the model: `ids[first:last]` are the tokens of the text itself."""

    ids: tuple[int, ...]
    first: int
    last: int
    offsets: tuple[tuple[int, int], ...]
    """The characters of the text that each of these tokens covers."""


class TextTokenizer:
    """The tokenizer of a model folder, with a prefix and the special tokens put around each text."""

    def __init__(self, file: Path, max_length: int) -> None:
        self._tokenizer = load_tokenizer(file)
        self._max_length = max_length
        probe = self._tokenizer.encode(PROBE)
        text_at = [index for index, special in enumerate(probe.special_tokens_mask) if not special]
        self._front = tuple(probe.ids[: text_at[0]])
        self._back = tuple(probe.ids[text_at[-1] + 1 :])

    def room(self, prefix: str = "") -> int:
        """Return how many tokens of a text fit one input beside the prefix and the special tokens."""
        return self._max_length - len(self._front) - len(self._back) - self.count(prefix)

    def count(self, text: str) -> int:
        """Count the tokens of a text, without special tokens."""
        return len(self._encode([text], self._tokenizer.encode_batch_fast)[0].ids)

    def windows(self, texts: Sequence[str], prefix: str = "") -> list[list[Window]]:
        """Return the model inputs of each text: one where it fits, else several that cover it all."""
        encodings = self._encode([prefix + text for text in texts], self._tokenizer.encode_batch)
        return [list(self._split(encoding, len(prefix))) for encoding in encodings]

    def _split(self, encoding: Encoding, prefix: int) -> Iterator[Window]:
        ids, offsets = encoding.ids, encoding.offsets
        body = next((index for index, (_, end) in enumerate(offsets) if end > prefix), len(ids))
        front = (*self._front, *ids[:body])
        size = self._max_length - len(front) - len(self._back)
        for start in range(body, max(len(ids), body + 1), size):
            piece = slice(start, min(start + size, len(ids)))
            yield Window(
                ids=(*front, *ids[piece], *self._back),
                first=len(front),
                last=len(front) + len(ids[piece]),
                offsets=tuple((max(begin - prefix, 0), end - prefix) for begin, end in offsets[piece]),
            )

    def _encode(self, texts: list[str], encode: Callable[..., list[Encoding]]) -> list[Encoding]:
        try:
            return encode(texts, add_special_tokens=False)
        except (TypeError, UnicodeError) as error:
            raise InputError(
                f"One of {len(texts)} texts is not valid Unicode text.",
                remedy="Replace lone surrogates before embedding.",
            ) from error


def load_tokenizer(file: Path) -> Tokenizer:
    """Read a tokenizer that neither cuts nor pads. Errors: `ModelError`."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # tokenizers raises nothing narrower
        raise ModelError(f"The tokenizer {str(file)!r} cannot be read: {error}.") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
