"""Write the list of disposable domains from the pinned package: `make disposable-domains`."""

from disposable_email_domains import blocklist

from pillarbox.adapters.disposable_domains import DOMAINS


def text() -> str:
    """Return the domains, sorted, one a line."""
    return "".join(f"{domain}\n" for domain in sorted(blocklist))


if __name__ == "__main__":
    DOMAINS.write_text(text(), encoding="ascii")
