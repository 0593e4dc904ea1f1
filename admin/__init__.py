"""The operator's command."""

from importlib import metadata


def version() -> str:
    """Return what `--version` shows."""
    return f"pillarbox {metadata.version('pillarbox')}"
