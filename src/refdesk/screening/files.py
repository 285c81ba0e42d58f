"""Rules from YAML."""

from os import PathLike
from pathlib import Path
from typing import Any

import regex
import yaml
from pydantic import TypeAdapter, ValidationError

from refdesk.errors import InputError
from refdesk.screening.rules import Rule

_FORM = "a list under `rules`, each with a name and a pattern, words or longer_than"


def load_rules(path: str | PathLike[str]) -> tuple[Rule, ...]:
    """Read rules from a file. Errors: `InputError` with all that is wrong; a broken file allows nothing."""
    try:
        data = yaml.safe_load(Path(path).read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(
            f"The rules {str(path)!r} cannot be read: {error}.", remedy=f"Write {_FORM}."
        ) from error
    entries = data.get("rules") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"The rules {str(path)!r} hold none.", remedy=f"Write {_FORM}.")
    found = [_rule(number, one) for number, one in enumerate(entries, 1)]
    if wrong := [problem for _, problem in found if problem]:
        lines = "".join(f"\n- {one}" for one in wrong)
        raise InputError(f"The rules {str(path)!r} cannot be used:{lines}", remedy="Mend them.")
    return tuple(rule for rule, _ in found if rule is not None)


def _rule(number: int, entry: Any) -> tuple[Rule | None, str]:
    """Return a rule, or what is wrong with it."""
    try:
        rule = _RULE.validate_python(entry)
        regex.compile(rule.pattern)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return None, f"rule {number}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    except regex.error as error:
        return None, f"rule {number} ({rule.name}): its pattern is none: {error}"
    if not (rule.pattern or rule.words or rule.longer_than is not None):
        return None, f"rule {number} ({rule.name}): it states no condition"
    return rule, ""


_RULE: TypeAdapter[Rule] = TypeAdapter(Rule)
