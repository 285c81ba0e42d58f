"""Frozen settings: from the options of a call, else `REFDESK_*`, else refdesk.toml, else defaults.

Settings only describe; `refdesk.desk` builds services from them.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self, get_args, get_origin, get_type_hints

from refdesk.citations.templates import problem
from refdesk.context import NumberBy
from refdesk.conversations.names import Where
from refdesk.documents import DEFAULT_COLLECTION, MODES, PUBLIC, Mode
from refdesk.errors import InputError, SettingsError
from refdesk.principals import as_principals
from refdesk.retrieval import CANDIDATES, FUSIONS, Fusion

FILE = "refdesk.toml"
PREFIX = "REFDESK_"
ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a desk is made of. A field is a key of refdesk.toml; in capitals after `REFDESK_`, a variable."""

    library: str = field(default="./.refdesk", repr=False)
    """Folder of the embedded store, or the URL of one in Postgres, see docs/stores-postgres.md."""
    collection: str = DEFAULT_COLLECTION
    """Collection that is used where none is named."""
    acl: tuple[str, ...] = (PUBLIC,)
    """Who may read new documents of which nothing else says it, see docs/permissions.md: `public` is
    everyone."""
    principals: tuple[str, ...] = ()
    """Who asks, where a call does not say it: a user and their groups. Without any, only what is public is
    read."""
    embedder: str = "minilm"
    """Name, folder or server of the embedder, see docs/embedding.md."""
    precision: str = "int8"
    """`int8` (fast) or `fp32` weights of local embedders."""
    reranker: str = "auto"
    """Name, folder or server of the reranker, see docs/reranking.md; `none` for the order of retrieval;
    `auto` for `maxsim` where the embedder gives token vectors, else `none`."""
    calibration: str = ""
    """File with limits of zones that `refdesk eval calibrate` measured; empty for `calibration.yaml` beside
    the library, where there is one."""
    llm: str = ""
    """Model string such as `openai:gpt-5-mini`; empty for the extractive answerer."""
    llm_window: int = 8192
    """Tokens that the model takes, prompt and reply together."""
    llm_output: int = 1024
    """Tokens of them that are kept for the reply."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Addresses of documents that have none of their own: collection to a template such as
    `https://intranet.example/{collection}/{source_id}?page={page}`, see docs/citations.md."""
    number_by: NumberBy = "chunk"
    """What citations share a number in an answer's text: those of a `chunk`, or of a `document`."""
    pipeline: str = "default"
    """How questions are answered: a preset's name or a YAML file, see docs/configuration.md."""
    seconds: float = 0.0
    """Time limit for answering one question; 0 for none."""
    mode: Mode = "hybrid"
    """How to search: by `vector`, by `keyword`, or `hybrid` for both."""
    fusion: Fusion = "zscore"
    """How `hybrid` joins its two lists."""
    top_k: int = 10
    """Hits that a search returns."""
    evidence: int = 6
    """Hits that an answer is written from."""
    candidates: int = CANDIDATES
    """Hits per arm that fusion sees."""
    rerank_depth: int = 25
    """Hits that are reranked."""
    chunk_tokens: int = 0
    """Tokens of a chunk; 0 for as many as the embedder takes."""
    token_vectors: bool = False
    """Keep token vectors: reranking is fast, a chunk takes a byte per token and dimension more."""
    password: str = field(default="", repr=False)
    """What opens encrypted files."""
    parse_seconds: float = 120.0
    """Time limit for reading one file."""
    parse_megabytes: int = 1536
    """Memory limit of a process that reads files."""
    cache: str = ""
    """Folder of model weights; empty for the user's cache folder."""
    conversations: Where = "auto"
    """Where conversations are kept: beside the library (`auto`), in this process (`memory`), or nowhere
    (`none`)."""
    conversation_days: float = 0.0
    """How long a conversation is kept after it was last used, in days; 0 for ever."""

    @classmethod
    def load(
        cls,
        options: Mapping[str, Any] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Self:
        """Read the settings. Errors: `SettingsError` with the source, the value and what is allowed."""
        settings = cls()
        path = (folder or Path.cwd()) / FILE
        if path.is_file():
            settings = settings.merged(_from_file(path), str(path))
        settings = settings.merged(_from_environ(os.environ if environ is None else environ), ENVIRONMENT)
        given = {key: value for key, value in (options or {}).items() if value is not None}
        return settings.merged(given, "options")

    def merged(self, values: Mapping[str, Any], origin: str) -> Self:
        """Return these settings with some replaced."""
        return replace(self, **{key: _checked(key, value, origin) for key, value in values.items()})


KINDS: Mapping[str, Any] = get_type_hints(Settings)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": MODES,
    "fusion": FUSIONS,
    "precision": ("int8", "fp32"),
    "number_by": get_args(NumberBy),
    "conversations": get_args(Where),
}
BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
MOST = 10**9
"""Of every whole number."""
LEAST: Mapping[str, float] = {
    "top_k": 1,
    "evidence": 1,
    "candidates": 1,
    "rerank_depth": 1,
    "llm_window": 512,
    "llm_output": 16,
    "seconds": 0,
    "conversation_days": 0,
    "parse_seconds": 1,
    "parse_megabytes": 256,
}

NAMES = f"names of users and groups, {PUBLIC!r} for everyone"
IN_VARIABLE = f"{NAMES}, with commas between or as a JSON array"
EMPTY_MEANT: Mapping[str, str] = {
    "acl": f"Name who may read, {PUBLIC!r} for everyone",
    "principals": "Name who asks, write [] for nobody",
}


def _from_file(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SettingsError(f"Cannot read {path}: {error}.", remedy="Mend the file or remove it.") from error


def _from_environ(environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return what variables set. An empty one sets nothing; one that says who reads or asks is kept."""
    named = {PREFIX + one.name.upper(): one.name for one in fields(Settings)}
    given = {named[key]: value for key, value in environ.items() if key in named}
    return {key: value for key, value in given.items() if value != "" or get_origin(KINDS[key]) is tuple}


def _checked(key: str, value: Any, origin: str) -> Any:
    if key not in KINDS:
        near = get_close_matches(key, KINDS, 1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(KINDS)}."
        raise SettingsError(f"Unknown setting {key!r} in {origin}.", remedy=hint)
    converted = _converted(key, value, origin)
    if key in CHOICES and converted not in CHOICES[key]:
        raise _wrong(key, value, origin, "one of " + ", ".join(CHOICES[key]))
    if key in LEAST and not converted >= LEAST[key]:
        raise _wrong(key, value, origin, f"at least {LEAST[key]}")
    if key == "library" and not converted.strip():
        raise _wrong(key, value, origin, "a folder, or the URL of a database")
    if KINDS[key] is int and converted > MOST:
        raise _wrong(key, value, origin, f"at most {MOST}")
    return converted


def _converted(key: str, value: Any, origin: str) -> Any:
    kind = KINDS[key]
    if get_origin(kind) is Mapping:
        return _templates(key, value, origin)
    if get_origin(kind) is tuple:
        return _names(key, value, origin)
    if get_args(kind):
        return str(value)
    if kind is bool:
        return _boolean(key, value, origin)
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    try:
        return kind(str(value))
    except ValueError as error:
        raise _wrong(key, value, origin, f"a value of type {kind.__name__}") from error


def _templates(key: str, value: Any, origin: str) -> Mapping[str, str]:
    """Read a table, or a JSON object as variables have it; each template is checked."""
    table = _json(value) if isinstance(value, str) else value
    if not isinstance(table, Mapping) or not all(
        isinstance(one, str) for pair in table.items() for one in pair
    ):
        raise _wrong(key, value, origin, "a table of collections and templates, in a variable a JSON object")
    for collection, template in table.items():
        if wrong := problem(template):
            raise SettingsError(
                f"The link template of {collection!r} from {origin} is {template!r}: {wrong}.",
                remedy="Write one such as https://intranet.example/{source_id}?page={page}.",
            )
    return dict(table)


def _names(key: str, value: Any, origin: str) -> tuple[str, ...]:
    """Read a name or several. An empty variable is refused: it may be one that was to be filled."""
    if origin == ENVIRONMENT and value == "":
        raise SettingsError(
            f"Setting {key!r} from {origin} is empty; allowed: {IN_VARIABLE}.",
            remedy=f"{EMPTY_MEANT[key]}, or unset {PREFIX}{key.upper()}.",
        )
    given = _split(value) if origin == ENVIRONMENT else value
    try:
        names = as_principals(given, f"Setting {key!r} from {origin}")
    except InputError as error:
        raise SettingsError(error.message, remedy=error.remedy) from error
    if given is None or (key == "acl" and not names):
        raise _wrong(key, value, origin, IN_VARIABLE if origin == ENVIRONMENT else NAMES)
    return names


def _split(text: str) -> Any:
    """Read what a variable has: a JSON array, else names with commas between. None for a broken array."""
    return _json(text) if text.lstrip().startswith("[") else [one.strip() for one in text.split(",")]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _boolean(key: str, value: Any, origin: str) -> bool:
    word = str(value).lower()
    if word not in BOOLEANS:
        raise _wrong(key, value, origin, "true or false")
    return BOOLEANS[word]


def _wrong(key: str, value: Any, origin: str, allowed: str) -> SettingsError:
    return SettingsError(
        f"Setting {key!r} from {origin} is {value!r:.200}; allowed: {allowed}.", remedy="Change it there."
    )
