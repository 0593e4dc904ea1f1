"""The domains of services for disposable addresses.

`disposable_domains.txt` has one a line, sorted. `make disposable-domains` writes it from the pinned
development package.
"""

from functools import cache
from pathlib import Path
from typing import Final

DOMAINS: Final = Path(__file__).parent / "disposable_domains.txt"


def is_disposable(domain: str) -> bool:
    """Return whether a domain is in the list. One search of the bytes needs no index of them."""
    return f"\n{domain}\n".encode() in _listed()


@cache
def _listed() -> bytes:
    return b"\n" + DOMAINS.read_bytes()
