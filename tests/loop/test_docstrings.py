"""What docstrings say about parameters, in the styles that people use."""

import inspect
from typing import Annotated

import pytest
from pydantic import Field

from refdesk.loop.docstrings import parameters, summary
from refdesk.loop.tools import tool_of

GOOGLE = """Look up a price,
    as of today.

    More about it.

    Args:
        item: What it is called,
            in full.
        amount (int, optional): How many: at least one.
        silent:

    Returns:
        price: A number.
    """
NUMPY = """Look up a price,
    as of today.

    Parameters
    ----------
    item : str
        What it is called,
        in full.
    amount, number : int, optional
        How many: at least one.

    Returns
    -------
    price
        A number.
    """
SPHINX = """Look up a price,
    as of today.
    :param item: What it is called,
        in full.
    :param int amount: How many: at least one.
    :type item: str
    :returns: A number.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_three_styles(text: str) -> None:
    said = inspect.cleandoc(text)
    assert summary(said) == "Look up a price, as of today."
    found = dict(parameters(said))
    assert found.pop("number", "How many: at least one.") == "How many: at least one."
    assert found == {"item": "What it is called, in full.", "amount": "How many: at least one."}


@pytest.mark.parametrize(
    "text", ["", "One line.", "Note:\n    item: not a parameter", "Args:", "Args:\n\n  nothing"]
)
def test_docstrings_that_say_nothing_of_parameters(text: str) -> None:
    assert parameters(text) == {}


def test_a_type_says_more_than_a_docstring() -> None:
    from_docstring = tool_of(priced).parameters["properties"]
    assert from_docstring["item"]["description"] == "What it is called."
    assert from_docstring["amount"]["description"] == "By annotation."
    assert tool_of(priced).description == "Look up a price."


Amount = Annotated[int, Field(description="By annotation.")]


def priced(item: str, amount: "Amount") -> None:
    """Look up a price.

    Args:
        item: What it is called.
        amount: By docstring.
    """
