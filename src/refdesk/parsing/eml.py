"""E-mail: headers, and the plain body or else the HTML one; attachments are named, not read."""

from dataclasses import replace
from datetime import UTC
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart

from refdesk.documents import Scalar
from refdesk.errors import ParseError
from refdesk.parsing import FileInfo, Parsed
from refdesk.parsing.html import html_to_markdown
from refdesk.parsing.markdown import from_markdown
from refdesk.parsing.normalise import clean, read_text, tidy

HEADERS = ("From", "To", "Cc", "Date", "Subject")


def parse(data: bytes, info: FileInfo) -> Parsed:
    """Read headers and body. Errors: `ParseError`, reason `damaged`, for text without e-mail headers."""
    message = message_from_bytes(data, policy=policy.default)
    headers = {name: _header(message, name) for name in HEADERS}
    if not any(headers.values()):
        raise ParseError(f"{info.name!r} has none of the headers of an e-mail.", reason="damaged")
    body, warnings = _body(message)
    lines = "\n".join(f"{name}: {value}" for name, value in headers.items() if value)
    parsed = from_markdown(
        f"{lines}\n\n{tidy(body)}", title=headers["Subject"], warnings=(*warnings, *_attachments(message))
    )
    return replace(parsed, metadata=_metadata(message, headers))


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(clean(str(message.get(name, ""))).text.split())


def _body(message: EmailMessage) -> tuple[str, tuple[str, ...]]:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return "", ()
    data = part.get_payload(decode=True)
    read = read_text(data if isinstance(data, bytes) else b"", declared=part.get_content_charset() or "")
    if part.get_content_subtype() == "html":
        return html_to_markdown(read.text), read.warnings
    return read.text, read.warnings


def _attachments(message: EmailMessage) -> tuple[str, ...]:
    names = [_name(part) for part in message.iter_attachments()]
    return (f"attachments that were not read: {', '.join(names)}",) if names else ()


def _name(part: MIMEPart) -> str:
    return " ".join((part.get_filename() or part.get_content_type()).split())


def _metadata(message: EmailMessage, headers: dict[str, str]) -> dict[str, Scalar]:
    metadata: dict[str, Scalar] = {
        name.lower(): headers[name] for name in ("From", "To", "Cc") if headers[name]
    }
    moment = getattr(message["Date"], "datetime", None)
    if moment is not None:
        metadata["date"] = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return metadata
