"""The templates of the service's own emails. They render as saved ones."""

from functools import cache
from pathlib import Path


@cache
def notice_source() -> str:
    """Return the template of notices to owners of accounts.

    It has a title, paragraphs, and the names of endpoint and account.
    """
    return _read("notice")


@cache
def code_source() -> str:
    """Return the template of a one-time code. It has the starter's words, and a link."""
    return _read("sign_in")


@cache
def invitation_source() -> str:
    """Return the template of an invitation to an account."""
    return _read("invitation")


@cache
def sign_up_source() -> str:
    """Return the template of emails about signing up: a title, paragraphs and perhaps a link."""
    return _read("sign_up")


def _read(name: str) -> str:
    return (Path(__file__).parent / f"{name}.html").read_text(encoding="utf-8")
