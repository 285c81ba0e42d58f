"""When two queries ask for the same."""

import pytest

from refdesk.retrieval.queries import plain, tried


@pytest.mark.parametrize(
    "query",
    [
        "What is “C#”?",
        "what  is c#",
        "WHAT IS C# ...",
        "(what) is c#!",
        "What is C#？",
        "Ｗhat is C#",
        "- what is C# -",
    ],
)
def test_queries_that_differ_in_signs_only_are_the_same(query: str) -> None:
    assert tried(query, ["other", "What is C#?"])


@pytest.mark.parametrize("query", ["What is C++?", "What is C?", "is what C#", "", "???"])
def test_queries_that_differ_in_words_are_others(query: str) -> None:
    assert not tried(query, ["What is C#?"])


def test_signs_alone_are_compared_as_they_are() -> None:
    assert plain(" ?? ") == "??"
    assert tried("??", ["?? "])
