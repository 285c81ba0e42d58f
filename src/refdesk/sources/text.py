"""A single text as a source."""

from collections.abc import AsyncIterator, Mapping
from typing import Literal

from refdesk.documents import Metadata
from refdesk.errors import InputError
from refdesk.principals import Principals, as_acl
from refdesk.sources import SourceFailure, SourceItem

MediaType = Literal["text/plain", "text/markdown", "text/html"]


class Text:
    """One text under an id of the caller's; the URL is the identity where there is no id.

    Errors: `InputError` where both are missing, and for an `acl` that names nobody.
    """

    def __init__(
        self,
        text: str,
        *,
        source_id: str = "",
        title: str = "",
        url: str | None = None,
        media_type: MediaType = "text/plain",
        language: str = "",
        metadata: Metadata | None = None,
        acl: Principals = None,
    ) -> None:
        said = {"text": text, "source_id": source_id, "title": title, "url": url or "", "language": language}
        for name, value in said.items():
            if not isinstance(value, str):
                raise InputError(f"The `{name}` of a text is {value!r:.80}; text is allowed.")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise InputError(f"The `metadata` of a text is {metadata!r:.80}; a mapping is allowed.")
        identity = source_id or url
        if not identity:
            raise InputError("A text needs an identity.", remedy="Give a source_id or a url.")
        # HTML has to be parsed, and so has Markdown for its headings; plain text is what it is.
        parsed = media_type != "text/plain"
        self._item = SourceItem(
            source_id=identity,
            name=identity,
            data=text.encode("utf-8", "replace") if parsed else None,
            text=None if parsed else text,
            title=title,
            url=url,
            media_type=media_type,
            language=language,
            metadata=dict(metadata or {}),
            acl=None if acl is None else as_acl(acl, f"The ACL of {identity!r}"),
        )

    def count(self) -> int:
        return 1

    async def items(self) -> AsyncIterator[SourceItem | SourceFailure]:
        yield self._item

    def covers(self, source_id: str, url: str | None) -> bool:
        return source_id == self._item.source_id
