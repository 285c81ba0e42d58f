"""The order and the lines of XML that is no feed."""

import pytest

from refdesk.parsing import FileInfo
from refdesk.parsing.xmltext import parse


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("<p>Do <b>not</b> press <i>the</i> button.</p>", "p: Do not press the button."),
        ("<p>H<sub>2</sub>O</p>", "p: H2O"),
        ("<p>one<br/>two</p>", "p: one two"),
        ("<p><b>First</b> and <i>last</i></p>", "p: First and last"),
        ("<p>a <b>b <i>c</i> d</b> e</p>", "p: a b c d e"),
        ("<r><a>x</a>\n<b>y</b><empty/></r>", "a: x\nb: y"),
        ("<li>Text<ul><li>a</li><li>b</li></ul>after</li>", "li: Text\nli: a\nli: b\nafter"),
        ("<r><p>a <b>b</b></p><q>c</q></r>", "p: a b\nq: c"),
    ],
)
def test_text_keeps_the_order_of_the_document(xml: str, text: str) -> None:
    assert parse(xml.encode(), FileInfo(name="a.xml")).text == text


def test_elements_may_be_nested_deeper_than_calls() -> None:
    deep = "<a>x" * 20_000 + "</a>" * 20_000
    assert parse(deep.encode(), FileInfo(name="a.xml")).text == "a: " + "x" * 20_000
