"""The blocking desk has every call of the desk, with the same parameters."""

import inspect

import pytest

from refdesk.blocking import BlockingDesk
from refdesk.desk import Desk

PUBLIC = [
    name for name, thing in vars(Desk).items() if inspect.isfunction(thing) and not name.startswith("_")
]


@pytest.mark.parametrize("name", [name for name in PUBLIC if name not in ("stream", "aclose")])
def test_same_parameters_and_docstring(name: str) -> None:
    ours, theirs = getattr(BlockingDesk, name), getattr(Desk, name)
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert ours.__doc__ == theirs.__doc__


def test_nothing_is_missing() -> None:
    assert {name for name in PUBLIC if name != "aclose"} <= set(dir(BlockingDesk))
