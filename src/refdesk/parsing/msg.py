"""Outlook messages, through markitdown (olefile)."""

import re
from dataclasses import replace

from markitdown.converters import OutlookMsgConverter

from refdesk.documents import Scalar
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.office import convert

_HEADER = re.compile(r"^\*\*(From|To|Subject):\*\*[ \t]*(.*)$", re.MULTILINE)


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read sender, receiver, subject and body."""
    parsed = from_markdown(convert(OutlookMsgConverter, data, ".msg"))
    headers: dict[str, Scalar] = {
        key.lower(): value.strip() for key, value in _HEADER.findall(parsed.text[:4000])
    }
    subject = str(headers.pop("subject", ""))
    metadata = {key: value for key, value in headers.items() if value}
    return replace(parsed, title=subject, metadata=metadata)
