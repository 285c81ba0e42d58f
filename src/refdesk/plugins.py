"""Modules that are imported late: optional packages, and costly parts that are seldom needed."""

import importlib
from types import ModuleType

from refdesk.errors import MissingExtra


def load_late(module: str) -> ModuleType:
    """Import one of our own modules at the moment it is needed."""
    return importlib.import_module(module)


def load_extra(module: str, extra: str) -> ModuleType:
    """Import a package that comes with an extra; say how to install the extra where it is absent."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"The package {package!r} cannot be imported: {error}.",
            remedy=f"Run: pip install 'refdesk[{extra}]'.",
        ) from error
