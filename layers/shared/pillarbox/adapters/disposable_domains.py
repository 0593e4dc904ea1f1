"""The domains of services for disposable addresses, from a package that is pinned in uv.lock."""


def is_disposable(domain: str) -> bool:
    """Return whether a domain is in the list. Only the first call loads it, in 3 ms."""
    from disposable_email_domains import blocklist  # noqa: PLC0415  one route needs its 10,000 names

    return domain in blocklist
