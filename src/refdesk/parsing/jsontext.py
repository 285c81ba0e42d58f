"""JSON without a field mapping: indented, characters in place of escapes, so that it can be searched."""

import json

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.normalise import clean, read_text


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Write the value with one line per member; what is not JSON is kept as it stands."""
    read = read_text(data)
    try:
        text = json.dumps(json.loads(read.text), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        warnings = (*read.warnings, "not valid JSON; read as plain text")
        return Parsed(text=read.text, warnings=warnings)
    cleaned = clean(text)
    return Parsed(text=cleaned.text, warnings=(*read.warnings, *cleaned.warnings))


def parse_lines(data: bytes, info: FileInfo) -> Parsed:
    """Write every line with characters in place of escapes; lines that are not JSON are kept and counted."""
    read = read_text(data)
    lines, broken = [], 0
    for line in read.text.split("\n"):
        try:
            lines.append(json.dumps(json.loads(line), ensure_ascii=False) if line.strip() else "")
        except (ValueError, RecursionError):
            lines.append(line)
            broken += 1
    warnings = (f"{broken} lines are not valid JSON",) if broken else ()
    cleaned = clean("\n".join(lines))
    return Parsed(
        text=cleaned.text,
        warnings=(*read.warnings, *warnings, *cleaned.warnings),
    )
