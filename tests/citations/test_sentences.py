"""Sentences keep exact offsets and pass over what says nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.citations.sentences import language_of, sentences

MARKDOWN = """# Leave

Dr. Smith took 30 days in 1990. He came
back late.

- First item
- Second item. With two sentences.
1. Numbered

| day | hours |
|-----|-------|
| Mon | 8 |

```py
code here. not a sentence.
```
[Only a link](https://example.org)
***
> Quoted words."""


def texts(text: str) -> list[str]:
    return [span.of(text) for span in sentences(text)]


def test_markdown() -> None:
    assert texts(MARKDOWN) == [
        "Dr. Smith took 30 days in 1990.",
        "He came\nback late.",
        "First item",
        "Second item.",
        "With two sentences.",
        "Numbered",
        "| day | hours |",
        "| Mon | 8 |",
        "Quoted words.",
    ]


def test_code_of_docstrings_is_no_sentence() -> None:
    text = """Create a directory.  For example:

        with TemporaryDirectory() as folder:
            use(folder)

    Upon exiting, it is removed.

    >>> make()
    ...     more()
"""
    assert texts(text) == ["Create a directory.", "For example:", "Upon exiting, it is removed."]
    assert texts("Steps are these:\n\n    - one step\n    - another") == [
        "Steps are these:",
        "one step",
        "another",
    ]


def test_rows_of_named_values_are_sentences() -> None:
    text = "city | desks\ncity: Berlin; desks: 4; manager: Ann Li\ncity: Paris; desks: 9; manager: Bo Ek"
    assert texts(text)[1:] == [
        "city: Berlin; desks: 4; manager: Ann Li",
        "city: Paris; desks: 9; manager: Bo Ek",
    ]


def test_scripts() -> None:
    assert texts("今天天气很好。我们去公园吧！好吗？") == ["今天天气很好。", "我们去公园吧！", "好吗？"]
    assert texts("यह एक वाक्य है। दूसरा वाक्य।") == ["यह एक वाक्य है।", "दूसरा वाक्य।"]
    assert [language_of(text) for text in ("Plain.", "漢字です", "汉字", "Что", "", "שלום")] == [
        *["en", "ja", "zh", "ru", "en", "he"]
    ]


def test_lines_without_punctuation_are_split() -> None:
    lines = [f"key number {number} and a value for it" for number in range(40)]
    assert texts("\n".join(lines)) == lines


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB .\n\r-#|`>!?。1\t\u2028\x85é𝒳*[]()"), max_size=120))
def test_spans_are_ordered_trimmed_and_inside(text: str) -> None:
    end = 0
    for span in sentences(text):
        assert end <= span.start < span.end <= len(text)
        assert span.of(text) == span.of(text).strip()
        end = span.end


def test_lone_surrogates_do_not_end_the_splitting() -> None:
    text = "One \ud800 here. Two."
    assert [span.of(text) for span in sentences(text)] == ["One \ud800 here.", "Two."]
