"""Internationalised domain names."""


def to_a_label(domain: str) -> str:
    """Turn a domain into A-labels (IDNA 2008 with the mapping of UTS 46).

    The older IDNA of the standard library would send mail for one domain to
    another: it turns the German sharp s into ss.

    Raises:
        ValueError: it is no valid name.
    """
    import idna  # noqa: PLC0415  its tables are needed for few addresses

    return idna.encode(domain, uts46=True).decode()
