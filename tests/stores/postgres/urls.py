"""URLs of libraries in the tests' database."""


def with_query(url: str, addition: str) -> str:
    """Return a URL with one more parameter."""
    return f"{url}{'&' if '?' in url else '?'}{addition}"
