"""Lists of domains that are pinned in uv.lock: those that owners share, and the disposable ones.

It is that of publicsuffix.org, with its private part: `github.io` is shared like `co.uk`.
"""

from functools import cache
from typing import TYPE_CHECKING

from disposable_email_domains import blocklist

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def registrable_domain(domain: str) -> str | None:
    """Return the part of a lower-case domain that somebody has registered.

    `mail.shop.co.uk` has `shop.co.uk`. A public suffix, such as `co.uk`, has none.
    """
    return _list().privatesuffix(domain)


@cache
def _list() -> "PublicSuffixList":
    """Load the list, which few functions need."""
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415  10,000 names

    return PublicSuffixList()


def is_disposable(domain: str) -> bool:
    """Return whether a domain is in the list of disposable ones."""
    return domain in blocklist
