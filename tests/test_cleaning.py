"""Values that every store can keep."""

import math

from hypothesis import given
from hypothesis import strategies as st

from refdesk.cleaning import clean_metadata

TEXT = st.text(st.characters(), max_size=9)
SCALAR = st.one_of(st.booleans(), st.integers(), st.floats(), st.datetimes(), TEXT)
VALUE = st.one_of(SCALAR, st.lists(SCALAR, max_size=3).map(tuple))


@given(st.dictionaries(TEXT, VALUE, max_size=4))
def test_any_metadata_can_be_kept_and_is_cleaned_once(metadata: dict[str, object]) -> None:
    cleaned = clean_metadata(metadata)  # type: ignore[arg-type]
    assert clean_metadata(cleaned) == cleaned
    for name, value in cleaned.items():
        for scalar in value if isinstance(value, tuple) else (value,):
            f"{name}{scalar}".encode()
            if isinstance(scalar, float):
                assert math.isfinite(scalar)
            elif isinstance(scalar, int):
                assert -(2**63) <= scalar < 2**63
