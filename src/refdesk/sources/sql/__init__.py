"""The rows of a query as documents, followed as they change.

- `source`: `Sql`, a source that is followed
- `reading`, `mapping`, `complaints`: a configuration from YAML, with all that is wrong with it at once
- `form`: the configuration, and its keys in words
- `plan`, `presets/`: databases whose tables are known
- `connecting`: a database that is only read
- `selects`, `statements`: what a query is, and the statements around it
- `columns`, `values`, `rows`: a row to a document
- `opening`, `reader`, `cursor`: one run over a database, and how far it came
"""

from refdesk.sources.sql.form import Config, Sync
from refdesk.sources.sql.plan import Database, Plan, Preset, Row
from refdesk.sources.sql.reading import read_config
from refdesk.sources.sql.source import Sql

__all__ = ["Config", "Database", "Plan", "Preset", "Row", "Sql", "Sync", "read_config"]
