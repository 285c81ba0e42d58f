"""What comes in from a model: line breaks, control characters, halves of characters."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from refdesk.citations.incoming import Incoming, cleaned

TEXTS = st.text(st.sampled_from("\r\n\x00\x85ab\ud83d\ude00é"), max_size=12)


@given(TEXTS, st.lists(st.integers(0, 12), max_size=6))
def test_cuts_do_not_matter(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    incoming = Incoming()
    taken = [incoming.take(text[a:b], final=False) for a, b in pairwise(edges)]
    whole = "".join([*taken, incoming.take("", final=True)])
    assert whole == cleaned(text)
    whole.encode()
    assert not set(whole) & set("\r\x00\x85")


def test_lines_and_characters() -> None:
    assert cleaned("a\r\nb\rc\n\r\nd") == "a\nb\nc\n\nd"
    assert cleaned("\ud83d\ude00 \ud83d \ude00 \x1b[31mred\x9b") == "😀   [31mred"
