"""Settings that every test shares."""

import signal
from importlib.util import find_spec

import pytest

from refdesk.errors import ModelError
from refdesk.models.catalog import SMOLLM2
from refdesk.models.locate import locate

pytest_plugins = ["tests.postgres", "tests.mariadb"]
pytest.register_assert_rewrite("refdesk.testing.stores")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_configure() -> None:
    """Take Ctrl-C, which is ignored in the background of a shell, and in whatever is started there."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of a language model where it was not fetched (`make local` fetches it)."""
    if not _has_local_model():
        left_out = [item for item in items if item.get_closest_marker("local")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _has_local_model() -> bool:
    try:
        return find_spec("xllamacpp") is not None and locate(SMOLLM2.name).is_dir()
    except ModelError:
        return False
