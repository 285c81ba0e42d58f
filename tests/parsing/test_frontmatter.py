"""Values of front matter that a store could not keep."""

import pytest

from refdesk.documents import Metadata
from refdesk.parsing import FileInfo, Parsed, ParseLimits
from refdesk.parsing.formats import PARSERS
from refdesk.parsing.frontmatter import split_front_matter
from refdesk.parsing.reading import read


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("42", 42),
        ("-1.5", -1.5),
        (str(2**63 - 1), 2**63 - 1),
        (str(-(2**63)), -(2**63)),
        (str(2**63), str(2**63)),
        ("9" * 5000, "9" * 5000),
        ("9" * 390 + ".0", "9" * 390 + ".0"),
        ("[1, 99999999999999999999]", (1, "99999999999999999999")),
    ],
)
def test_numbers_that_do_not_fit_stay_text(written: str, value: object) -> None:
    assert split_front_matter(f"---\nkey: {written}\n---\nText").metadata == {"key": value}


def test_what_any_parser_returns_is_cleaned() -> None:
    parsers = {**PARSERS, "csv": f"{__name__}:odd"}
    parsed = read(b"a,b", FileInfo(name="a.csv"), ParseLimits(), parsers)
    assert parsed.title == "Title"
    assert parsed.metadata == {"key": "value", "big": str(2**64), "many": ("nan", 1)}


def odd(data: bytes, info: FileInfo) -> Parsed:
    metadata: Metadata = {"k\udfffey": "val\ud800ue", "big": 2**64, "many": (float("nan"), 1)}
    return Parsed(text="x", title="Ti\ud800tle", metadata=metadata)
