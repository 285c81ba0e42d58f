"""What a docstring says about a function and its parameters, in the three usual styles."""

import re
from collections.abc import Mapping
from itertools import pairwise

_SECTION = re.compile(r"^(?P<name>[A-Z][A-Za-z ]*?)\s*(?::\s*$|\n\s*-{3,}\s*$)", re.MULTILINE)
_SPHINX = re.compile(
    r"^:(?P<kind>\w+)\s*(?P<rest>[^:\n]*):[ \t]*(?P<text>[^\n]*(?:\n[ \t]+\S[^\n]*)*)", re.MULTILINE
)
_GOOGLE = re.compile(r"^\*{0,2}(?P<names>\w+)[ \t]*(?:\([^\n]*?\))?:[ \t]+(?P<text>.*)\Z", re.DOTALL)
_NUMPY = re.compile(r"^\*{0,2}(?P<names>\w+(?:, *\*{0,2}\w+)*)[ \t]*(?::[^\n]*)?\n(?P<text>.*)\Z", re.DOTALL)
_PARAMETERS = ("args", "arguments", "parameters", "params", "other parameters", "keyword args")
_SPHINX_PARAMETERS = ("param", "parameter", "arg", "argument", "key", "keyword")


def summary(text: str) -> str:
    """Return the first paragraph of a cleaned docstring as one line."""
    starts = [found.start() for found in (_SECTION.search(text), _SPHINX.search(text)) if found]
    before = text[: min(starts, default=len(text))].strip()
    return _line(re.split(r"\n\s*\n", before, maxsplit=1)[0])


def parameters(text: str) -> Mapping[str, str]:
    """Return what a cleaned docstring says about each parameter, in Google's, NumPy's or Sphinx's style."""
    found = {
        one["rest"].split()[-1].lstrip("*"): _line(one["text"])
        for one in _SPHINX.finditer(text)
        if one["kind"] in _SPHINX_PARAMETERS and one["rest"].split()
    }
    sections = [(one["name"].lower(), one.start(), one.end()) for one in _SECTION.finditer(text)]
    for (name, start, begin), (_, end, _) in pairwise((*sections, ("", len(text), 0))):
        if name in _PARAMETERS:
            style = _GOOGLE if text[start:begin].rstrip().endswith(":") else _NUMPY
            found |= _listed(text[begin:end], style)
    return {name: said for name, said in found.items() if said}


def _listed(section: str, style: re.Pattern[str]) -> dict[str, str]:
    """Read the entries of a section: the lines of least indent, each with what stands deeper below it."""
    lines = [line for line in section.expandtabs().split("\n") if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    entries = re.split(r"\n(?=\S)", "\n".join(line[margin:] for line in lines))
    found: dict[str, str] = {}
    for entry in entries:
        if one := style.match(entry):
            found |= {name.strip().lstrip("*"): _line(one["text"]) for name in one["names"].split(",")}
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
