"""The templates of the service's own emails: one frame with different texts.

They render as saved ones.
"""

from functools import cache
from pathlib import Path
from string import Template


@cache
def notice_source() -> str:
    """Return the template of notices to owners of accounts.

    It has a title, paragraphs, perhaps a link, what it is about, and the name of the account.
    """
    reason = "because you are an owner of this account, or its contact."
    return _framed("notice", "{{ title }}", reason)


@cache
def code_source() -> str:
    """Return the template of a one-time code. It has the starter's words, and a link."""
    return _framed(
        "sign_in", "Here is your code", "because a code was requested for {{ address }}."
    )


@cache
def invitation_source() -> str:
    return _framed(
        "invitation",
        "You are invited to an account",
        "because {{ inviter }} entered {{ address }}.",
    )


@cache
def sign_up_source() -> str:
    """Return the template of emails about signing up: a title, paragraphs and perhaps a link."""
    return _framed("sign_up", "{{ title }}", "because {{ reason }}.")


def _framed(name: str, title: str, reason: str) -> str:
    """Put a text into the frame, with its title and the reason why the reader gets it."""
    frame = Template(_read("service_mail"))
    return frame.substitute(title=title, content=_read(name), reason=reason)


def _read(name: str) -> str:
    return (Path(__file__).parent / f"{name}.html").read_text(encoding="utf-8")
