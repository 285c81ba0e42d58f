"""What went wrong with a model, as `LLMError` without secrets in it."""

import os
import re
from typing import Any

from refdesk.addresses import without_users
from refdesk.errors import ContextTooLong, LLMError

_SECRET_NAME = re.compile(r"(?i)(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)$")
_SECRET = re.compile(r"(?i)\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{6,}|\bAIza[\w-]{10,}|\bbearer\s+[^\s,;]+")
_TOO_LONG = re.compile(
    r"(?i)exceeds? the (?:available |model's |maximum )?context|(?:maximum|max) context length|context window"
    r"|(?:prompt|input) is too long|too many (?:input )?tokens|context_length_exceeded|exceed_context_size"
)
"""How servers word it that pydantic-ai does not know, llama.cpp among them."""
_NO_TOOLS = re.compile(
    r"(?i)supports? tools?\b|support(?:ing)? (?:tool|function)|\btools? param|tool choice requires"
    r"|\b(?:tool|function)s?(?:[ _]\w+)?`? (?:is|are) not|unknown (?:field|parameter|argument)\W+tool"
)
"""How servers word it that they, or a model, take no tools, where the status does not say so."""
_LONGEST_CAUSE = 400


def unusable(error: Exception, model: str) -> LLMError:
    """Say that a model cannot be asked at all, as with a missing key."""
    variable = re.search(r"`([A-Z][A-Z0-9_]*(?:KEY|TOKEN)[A-Z0-9_]*)`", str(error))
    if variable:  # the library's own advice is about its own code
        why, remedy = "it has no key.", f"Set the environment variable {variable[1]}."
    else:
        why, remedy = scrub(str(error)).partition(" Did you mean")[0], "Check the model string."
    return LLMError(f"The model {model} cannot be used: {why.rstrip('.')}.", remedy=remedy)


def failed(error: Any, model: str) -> LLMError:
    """Say that a request failed, and whether it may be tried again."""
    kinds = {cls.__name__ for cls in type(error).__mro__}
    status = getattr(error, "status_code", None)
    said = f"The model {model} failed: {_cause(error, status)}"
    if "ModelContextWindowExceededError" in kinds or (
        status in (*_REJECTED, 413, 500, None) and _TOO_LONG.search(said)
    ):
        return ContextTooLong(said, remedy="Give it less evidence, or use a model with a larger window.")
    retryable = bool(kinds & _PASSING) or status in (408, 409, 425, 429) or (status or 0) >= 500
    lasting = "ModelQuotaExceededError" in kinds or status == 501 or _takes_no_tools(status, said)
    return LLMError(
        said,
        retryable=retryable and not lasting,
        remedy=next((remedy for kind, remedy in _REMEDIES.items() if kind in kinds), ""),
    )


def garbled(error: Exception, model: str) -> LLMError:
    """Say that a reply has not the form of the protocol."""
    said = scrub(f"{type(error).__name__}: {error}")[:_LONGEST_CAUSE]
    return LLMError(f"The model {model} sent a reply that cannot be read: {said}", retryable=True)


def rejected(error: LLMError) -> bool:
    """Tell whether a server refused what a request asks for, and not its length or its sender."""
    status = getattr(error.__cause__, "status_code", None)
    kinds = {cls.__name__ for cls in type(error.__cause__).__mro__}
    return status in _REJECTED and not isinstance(error, ContextTooLong) and not kinds & _THE_SENDER


def tools_refused(error: LLMError) -> bool:
    """Tell whether a request with tools may have failed because of them, so that one without is worth asking.

    Servers that know no tools often say no more than that a request is wrong.
    """
    status = getattr(error.__cause__, "status_code", None)
    return rejected(error) or _takes_no_tools(status, error.message)


def _takes_no_tools(status: int | None, said: str) -> bool:
    return status in (None, 404, 405, 500) and bool(_NO_TOOLS.search(said))


def nothing_written(model: str, finish: str | None, thought: bool) -> LLMError:
    """Say why a reply has no text, where the provider told."""
    if finish == "length":
        spent = "while it was still thinking" if thought else "before it wrote any text"
        return LLMError(
            f"The model {model} used up the tokens of its reply {spent}.", remedy="Allow more tokens."
        )
    if finish == "content_filter":
        return LLMError(f"The model {model} returned no text: the provider's content filter stopped it.")
    return LLMError(f"The model {model} returned no text.", retryable=True)


def scrub(text: str) -> str:
    """Take secrets out of a text: values of variables that name one, those of addresses, and keys."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name) and len(value) >= 6:
            text = text.replace(value, "***")
    return _SECRET.sub("***", without_users(text))


def _cause(error: Any, status: int | None) -> str:
    """Say in one line what went wrong, with the server's own words."""
    body = getattr(error, "body", None)
    said = body.get("message") or body.get("error") if isinstance(body, dict) else body
    said = said.get("message", said) if isinstance(said, dict) else said
    text = str(said or error) + (f" ({error.__cause__})" if not said and error.__cause__ else "")
    return scrub(" ".join(f"{f'HTTP {status}: ' if status else ''}{text}".split()))[:_LONGEST_CAUSE]


_REJECTED = (400, 415, 422, 501)
_THE_SENDER = {"ModelAuthenticationError", "ModelQuotaExceededError"}
_PASSING = {
    "ModelRateLimitError",
    "ModelUnavailableError",
    "ModelServerError",
    "ModelConnectionError",
    "ModelRequestTimeout",
}
_REMEDIES = {
    "ModelAuthenticationError": "Check the key in the environment and that it may use this model.",
    "ModelNotFoundError": "Check the model's name.",
    "ModelQuotaExceededError": "The account's quota or credit is used up.",
    "ModelConnectionError": "Check that the server runs and can be reached.",
}
