"""A configuration and its database to what is read: the plan, the map and the columns, checked together."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from refdesk.plugins import load_extra
from refdesk.sources.sql.columns import named
from refdesk.sources.sql.complaints import Complaints
from refdesk.sources.sql.connecting import EXTRA, Connection, place
from refdesk.sources.sql.form import Config, Map
from refdesk.sources.sql.mapping import merged, missing_columns, plain_map
from refdesk.sources.sql.plan import Plan
from refdesk.sources.sql.rows import Principals, Reading, named_in, principals
from refdesk.sources.sql.statements import Query, nothing_of
from refdesk.sources.sql.values import text

FORM = 2
"""Goes up when rows are read in another way, so that all are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """One source, ready to be read."""

    config: Config
    connection: Connection
    plan: Plan
    map: Map
    query: Query

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that make the id."""
        return self.map.id.names

    @property
    def whole(self) -> tuple[str, ...]:
        """Columns that a document needs, all where a preset finishes the rows."""
        if self.plan.finish:
            return self.query.names
        facts = [fact.part for fact in self.map.metadata.values()]
        parts = [self.map.text, self.map.title, self.map.url, self.map.language, self.map.media_type]
        return tuple(dict.fromkeys((*self.slim, *named([*parts, self.map.updated_at, *facts]))))

    @property
    def slim(self) -> tuple[str, ...]:
        """Columns that say what is there and who may read it."""
        return named([self.map.id, self.map.acl.part, self.map.deleted, self.map.version])

    @property
    def shape(self) -> str:
        """What tells this way of reading from others."""
        config = self.config
        how = [FORM, place(config.url), self.plan.query, config.parameters, repr(config.preset)]
        told = json.dumps([*how, self.plan.map, config.name, str(config.sync.timezone)], default=str)
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def reading(self) -> Reading:
        """Return how rows are read now; principals that have a query of their own are read anew."""
        return Reading(
            name=self.config.name,
            map=self.map,
            zone=self.config.sync.timezone,
            principals=self._principals(),
        )

    def _principals(self) -> Principals | None:
        """Return who may read what; equal lists are kept once, since there are few."""
        access, found = self.map.acl, dict[str, set[object]]()
        if self.plan.principals is not None:
            for identity, given in self.plan.principals(self.connection):
                found.setdefault(identity, set()).update(given)
        elif access.query:
            for row in self.connection.rows(access.query):
                identity, given = tuple(row.values())
                found.setdefault(text(identity).strip(), set()).update(named_in(given, access))
        else:
            return None
        kept: dict[tuple[str, ...], tuple[str, ...]] = {}
        lists = ((identity, principals(tuple(given), access.prefix)) for identity, given in found.items())
        return {identity: kept.setdefault(one, one) for identity, one in lists}


def opened(config: Config) -> Opened:
    """Look at the database and check the map against it. Errors: `SettingsError`, `SourceError`."""
    what = f"The SQL source {config.name!r}"
    connection = Connection(config.url, **_remedy(config))
    plan = _plan(config, connection)
    map = plain_map(plan.map, what, acl_given=plan.principals is not None)
    nothing = nothing_of(plan.query, plan.parameters)
    names = connection.names(nothing)
    complaints = Complaints()
    for name in sorted({name for name in names if names.count(name) > 1}):
        complaints.wrong(
            f"The query has {names.count(name)} columns {name!r}.", "Give each a name: ... AS name."
        )
    missing_columns(map, (*names, *plan.adds), complaints)
    if map.acl.query:
        _two_columns(connection, map.acl.query, complaints)
    complaints.refuse(what)
    loose = connection.loose(nothing) & {*map.id.names}
    query = Query(plan.query, plan.parameters, names, map.deleted_sql, loose)
    if map.deleted_sql:
        connection.names(query.select(map.id.names).where(load_extra("sqlalchemy", EXTRA).false()))
    return Opened(config=config, connection=connection, plan=plan, map=map, query=query)


def _remedy(config: Config) -> Mapping[str, str]:
    """Return what to do about a query that fails: nobody wrote that of a preset."""
    if config.preset is None:
        return {}
    tables = f"the tables that the preset {config.preset.kind!r} reads"
    return {"remedy": f"Check the server, and that `url:` is of a user with SELECT on {tables}."}


def _plan(config: Config, connection: Connection) -> Plan:
    if config.preset is None:
        return Plan(query=config.query, map=config.map, parameters=config.parameters)
    plan: Plan = config.preset.plan(connection)
    over = merged(plan.map, config.map)
    return Plan(
        query=plan.query,
        map=over,
        parameters=plan.parameters,
        finish=plan.finish,
        adds=plan.adds,
        principals=None if "acl" in config.map else plan.principals,
    )


def _two_columns(connection: Connection, query: str, complaints: Complaints) -> None:
    names = connection.names(nothing_of(query, {}))
    if len(names) != 2:
        shown = ", ".join(names)
        complaints.wrong(f"`principals` has the columns {shown}.", "Select two: the id and the principal.")
