"""Lance as this package uses it: the one file that loads it, quietly, and translates its errors."""

import os

os.environ.setdefault("LANCE_LOG", "error")  # read when the library is loaded, else it warns per query

from collections.abc import Iterator
from contextlib import contextmanager

import lance
import pyarrow as pa
from lance.query import MatchQuery

from refdesk.errors import StoreError
from refdesk.stores.control import DISK_FULL

__all__ = ["MatchQuery", "Session", "Table", "open_table", "translated", "write_table"]

Table = lance.LanceDataset
Session = lance.Session  # type: ignore[attr-defined]
open_table = lance.dataset
write_table = lance.write_dataset

REMEDY = (
    "Open a new reader. If that fails too, restore the library from a backup, or delete the collection and"
    " ingest again."
)


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn what Lance raises into `StoreError`."""
    try:
        yield
    except UnicodeEncodeError:  # the text of a caller, not a fault of the store
        raise
    except (OSError, ValueError, RuntimeError, NotImplementedError, pa.ArrowException) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        message = f"Cannot {what}: {first[:300]}"
        full = "no space left" in message.lower()
        raise StoreError(message, remedy=DISK_FULL if full else REMEDY) from error
