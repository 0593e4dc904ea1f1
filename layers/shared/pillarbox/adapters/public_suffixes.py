"""Which domains different owners share, from a list that is pinned in uv.lock.

It is that of publicsuffix.org, with its private part: `github.io` is shared like `co.uk`.
"""

from functools import cache
from typing import TYPE_CHECKING

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
