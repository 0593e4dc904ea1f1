"""`pillarbox apply`: what it refuses before it calls the service."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from admin.apply import KEY_VARIABLE, apply
from pillarbox.domain.errors import ValidationFailed


def test_a_missing_key_does_not_look_like_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a management key it fails with an error, not with 2, which means changes."""
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    context: Any = SimpleNamespace(obj=SimpleNamespace(local=False))
    with pytest.raises(ValidationFailed) as refused:
        apply(context, Path("customers.yaml"), plan=True)
    (error,) = refused.value.errors
    assert error.field == KEY_VARIABLE
