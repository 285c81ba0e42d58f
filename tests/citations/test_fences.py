"""Which lines of a code block can be trusted to be code."""

import pytest

from refdesk.citations.fences import Fence, begun, opening


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```\n", Fence("```", 0)),
        ("````py x\nrest", Fence("````", 0)),
        ("   ~~~ a`b\n", Fence("~~~", 3)),
        ("    ```\n", None),
        ("``` a`b\n", None),
        ("~~~ a|b\n", None),
        ("``\n", None),
        ("```", None),
    ],
)
def test_openings(text: str, fence: Fence | None) -> None:
    found = opening(text, 0)
    assert (found and found[0]) == fence
    assert found is None or found[1] == text.index("\n") + 1


@pytest.mark.parametrize(("text", "expected"), [("", True), ("  `", True), ("~~~ a", True), ("a", False)])
def test_what_may_become_one(text: str, expected: bool) -> None:
    assert begun(text, 0) is expected


@pytest.mark.parametrize(
    ("fence", "line", "read"),
    [
        (Fence("```", 0), "code\n", "inside"),
        (Fence("```", 0), "   ````  \n", "closing"),
        (Fence("```", 0), "```", "closing"),
        (Fence("```", 0), "``` x\n", "inside"),
        (Fence("```", 0), "    ```\n", "inside"),
        (Fence("```", 0), "\t```\n", "inside"),
        (Fence("````", 0), "```\n", "inside"),
        (Fence("~~~", 0), "```\n", "inside"),
        (Fence("```", 2), "   code\n", "inside"),
        (Fence("```", 2), " code\n", "outside"),
        (Fence("```", 2), "\u2028\n", "outside"),
        (Fence("```", 2), " \n", "inside"),
        (Fence("```", 2), "  ```\n", "closing"),
        (Fence("```", 2), "```\n", "doubtful"),
        (Fence("```", 2), "     ```\n", "doubtful"),
    ],
)
def test_lines(fence: Fence, line: str, read: str) -> None:
    assert fence.reads(line) == read
