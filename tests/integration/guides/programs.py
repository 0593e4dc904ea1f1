"""The programs of docs/guides, and the commands that run them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.stack import ROOT

CODE: Final = ROOT / "docs" / "guides" / "code"
_HERE: Final = Path(__file__).parent

type Command = tuple[str, ...]

#: Framework -> the command that sends a receipt; it takes an address and an invoice's number.
FRAMEWORKS: Final[Mapping[str, Command]] = {
    "laravel": ("php", str(_HERE / "laravel.php"), "receipt.php"),
    "rails": ("ruby", str(_HERE / "rails.rb"), "receipt.rb"),
}
#: The same with those for which the guide has a command, which tests/e2e/test_pasted.py runs.
OVER_HTTP: Final[Mapping[str, Command]] = {
    **FRAMEWORKS,
    "go": ("go", "run", str(CODE / "go/pillarbox.go"), str(CODE / "go/receipt.go")),
}
#: The same over SMTP.
OVER_SMTP: Final[Mapping[str, Command]] = {
    "nodemailer": ("node", str(CODE / "smtp/nodemailer.cjs")),
    "django": (sys.executable, str(_HERE / "django_smtp.py")),
    "rails": ("ruby", str(_HERE / "rails_smtp.rb")),
    "laravel": ("php", str(_HERE / "laravel_smtp.php")),
    "wordpress": ("php", str(_HERE / "wordpress.php")),
}
#: Language -> the command that receives webhooks on the port that the variable PORT names.
RECEIVERS: Final[Mapping[str, Command]] = {
    "python": (sys.executable, str(CODE / "webhooks/receiver.py")),
    "node": ("node", str(CODE / "webhooks/receiver.mjs")),
    "php": ("php", "-S", "127.0.0.1:PORT", str(CODE / "webhooks/receiver.php")),
    "ruby": ("ruby", str(_HERE / "webhook_receiver.rb")),
    "go": ("go", "run", str(CODE / "webhooks/receiver.go")),
}
#: The languages and frameworks that this repository uses anyway.
_OWN: Final = {"python", "node", "nodemailer"}


def each_of(commands: Mapping[str, Command]) -> list[Any]:
    """Return the commands as parameters; `make guides` runs those that are foreign."""
    return [
        pytest.param(command, id=name, marks=() if name in _OWN else pytest.mark.foreign)
        for name, command in commands.items()
    ]
