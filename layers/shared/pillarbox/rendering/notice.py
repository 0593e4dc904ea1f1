"""The template of the service's own emails to owners of accounts; it renders as a saved one."""

from functools import cache
from pathlib import Path


@cache
def notice_source() -> str:
    """Return the template: it has a title, paragraphs, and the names of endpoint and account."""
    return (Path(__file__).parent / "notice.html").read_text(encoding="utf-8")
