"""The parameters of a typed function as a model is told of them, and the check of what it gives."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaError

from refdesk.context import Context
from refdesk.errors import InputError
from refdesk.loop import docstrings
from refdesk.loop.checking import checked
from refdesk.loop.schemas import branches, plain

_ALLOWED = "Give every parameter a type that JSON can hold, and a default where it may be left out."
_CONFIG = ConfigDict(extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)

Check = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, as a model and the loop need them."""

    schema: Mapping[str, Any]
    check: Check
    """Returns the arguments of a call as the function takes them."""
    context: str
    """The parameter that is no model's to fill: of the type `Context`; empty where there is none."""


def read_signature(function: Callable[..., Any], name: str) -> Signature:
    """Read the parameters of a function. Errors: `InputError` for one that no model could call."""
    every = _parameters(function, name)
    hints = _hints(function, name, every)
    context = [one.name for one in every if hints[one.name] is Context]
    if len(context) > 1:
        raise InputError(
            f"The tool {name!r} takes the context twice: {' and '.join(context)}.", remedy="Leave one out."
        )
    parameters = [one for one in every if one.name not in context]
    model = _model(name, hints, parameters)
    schema = _schema(model, name, docstrings.parameters(inspect.getdoc(_code(function)) or ""))
    fields = {one.name: _own(place) for place, one in enumerate(parameters)}
    check = partial(checked, name, model, schema, fields)
    return Signature(schema, check, "".join(context))


def described(function: Callable[..., Any]) -> str:
    """Return the first paragraph of a function's docstring."""
    return docstrings.summary(inspect.getdoc(_code(function)) or "")


def named(function: Callable[..., Any]) -> str:
    """Return the name of a function; an object that is called has that of its class."""
    inner = _code(function)
    return str(getattr(inner, "__name__", "") or type(inner).__name__.lower())


def _code(function: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(function, partial):
        function = function.func
    return function


def _parameters(function: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The tool {name!r} has no signature that could be read: {error}.", remedy=_ALLOWED
        ) from error
    fixed: set[str] = set()
    inner: Any = function
    while isinstance(inner, partial):
        fixed |= inner.keywords.keys()
        inner = inner.func
    parameters = [one for one in found if one.name not in fixed]
    for one in parameters:
        if reason := _unfit(one):
            raise InputError(
                f"The tool {name!r} cannot take its parameter {one.name!r}: {reason}.", remedy=_ALLOWED
            )
    return parameters


def _unfit(parameter: inspect.Parameter) -> str:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return "it takes any number of values, and a model has to be told each"
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return "it has no name in a call"
    if parameter.annotation is parameter.empty and parameter.name == "self":
        return "the function belongs to an object; make a tool of the object's method instead"
    return "it has no type" if parameter.annotation is parameter.empty else ""


def _hints(function: Callable[..., Any], name: str, parameters: list[inspect.Parameter]) -> Mapping[str, Any]:
    inner = inspect.unwrap(_code(function))
    if not inspect.isroutine(inner):
        inner = type(inner).__call__
    written = SimpleNamespace(__annotations__={one.name: one.annotation for one in parameters})
    try:
        return get_type_hints(written, getattr(inner, "__globals__", {}), include_extras=True)
    except Exception as error:
        raise InputError(
            f"The types of the tool {name!r} cannot be read: {error}.",
            remedy="Types that are written as text must be names of the function's module.",
        ) from error


def _model(name: str, hints: Mapping[str, Any], parameters: Sequence[inspect.Parameter]) -> type[BaseModel]:
    """Make a model whose fields have names of ours, and are called in JSON what the parameters are called."""
    fields: dict[str, Any] = {}
    for place, one in enumerate(parameters):
        kind: Any = Annotated[hints[one.name], Field(alias=one.name)]
        fields[_own(place)] = kind if one.default is one.empty else (kind, one.default)
    try:
        return create_model(name, __config__=_CONFIG, **fields)
    except (PydanticUserError, SchemaError, TypeError, ValueError) as error:
        raise _unreadable(name, error) from error


def _own(place: int) -> str:
    return f"p{place}"


def _schema(model: type[BaseModel], name: str, said: Mapping[str, str]) -> Mapping[str, Any]:
    try:
        whole = model.model_json_schema(schema_generator=_Quiet)
    except (PydanticUserError, ValueError) as error:
        raise _unreadable(name, error) from error
    schema = plain(whole)
    properties = {
        key: _optional({**({"description": said[key]} if key in said else {}), **one})
        for key, one in schema.get("properties", {}).items()
    }
    order = ("type", "properties", "required")
    return {**dict.fromkeys(order), "required": [], **schema, "properties": properties}


def _optional(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Say of a parameter that is None when it is left out only what it may be otherwise."""
    if schema.get("default", 0) is not None:
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if "anyOf" not in schema:
        return rest
    forms = branches(schema)
    return {**forms[0], **rest} if len(forms) == 1 else {"anyOf": forms, **rest}


class _Quiet(GenerateJsonSchema):
    """A default that JSON cannot hold is left out of the schema without a word."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


def _unreadable(name: str, error: Exception) -> InputError:
    said = " ".join(str(error).partition("For further information")[0].split()).rstrip(".")
    return InputError(
        f"The tool {name!r} has a parameter of a type that cannot be used: {said:.400}.",
        remedy=_ALLOWED,
    )
