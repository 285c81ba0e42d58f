import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.citations.sentences import sentences
from refdesk.grounding.literal import Literal

TEXT = 'Employees get 30 days. "Unused leave expires," she **said**. May they? Ask Dr. Miller.'


@pytest.mark.parametrize(
    ("sentence", "held"),
    [
        ("Employees get 30 days.", True),
        ("employees  get 30 days", True),
        ("*Employees* get `30` days .", True),
        ("“Unused leave expires,” she said.", False),
        ('"Unused leave expires," she said.', True),
        ("Employees get 31 days.", False),
        ("Employees get 30", False),
        ("get 30 days.", False),
        ("May they?", True),
        ("May they.", False),
        ("Employees get 30 days. Ask Dr. Miller.", False),
        ("", False),
        ("...", False),
    ],
)
def test_a_whole_sentence_is_held(sentence: str, held: bool) -> None:
    assert Literal([TEXT, "Whales sing.", ""], "en").holders(sentence) == (held, False, False)


def test_every_text_that_has_it_holds_it() -> None:
    assert Literal(["Whales sing.", TEXT, "Whales sing! Loudly."], "en").holders("Whales sing.") == (
        *(True, False),
        True,
    )


@given(st.lists(st.text(max_size=30), max_size=3))
def test_texts_hold_their_own_sentences(texts: list[str]) -> None:
    literal = Literal(texts, "en")
    for place, text in enumerate(texts):
        for span in sentences(text, "en"):
            if span.of(text).strip("*_` .!\"'“”‘’"):
                assert literal.holders(span.of(text))[place]
