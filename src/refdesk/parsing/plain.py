"""Text and source code that is kept as it stands."""

from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.normalise import read_text


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Keep the text."""
    read = read_text(data)
    return Parsed(text=read.text, warnings=read.warnings)
