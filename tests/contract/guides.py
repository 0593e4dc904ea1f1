"""Tables in docs/guides that tests write: what clients of others meet here."""

import os
from typing import Final

from local.template import ROOT

WRITE: Final = "WRITE_FIELDS"


def check_table(guide: str, head: str, rows: list[str]) -> None:
    """Compare a table of a guide with its rows, each once; `WRITE_FIELDS=1` writes it instead."""
    page = ROOT / "docs" / "guides" / guide
    text = page.read_text(encoding="utf-8")
    before, after = text.split(head)
    made = before + head + "".join(dict.fromkeys(rows)) + "\n" + after[after.index("## ") :]
    if os.environ.get(WRITE):
        page.write_text(made, encoding="utf-8")
    assert text == made, f"run this test with {WRITE}=1, which writes the table"
