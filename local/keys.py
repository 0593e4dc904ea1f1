"""The API keys and the certificate, which survive a restart of the local stack."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography import x509

from local.private import write_private
from local.relay import self_signed
from pillarbox.domain.accounts.key import ACCOUNT_ID_LENGTH, KeyType, account_of_key, new_key_text
from pillarbox.domain.ids import new_token
from pillarbox.settings import Settings
from relay.tls import Certificate

#: The seeded keys by role.
_TYPES: Final = {"live": KeyType.LIVE, "live_free": KeyType.LIVE, "preview": KeyType.PREVIEW}
#: A certificate with less time left is made anew; `pillarbox doctor` would soon warn of it.
_RENEWED_BEFORE: Final = dt.timedelta(days=30)


class KeysInvalid(Exception):
    """The kept keys or the key of the environment cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class LocalKeys:
    """The texts of the API keys by role (`live`, `live_free`, `preview`), and the certificate."""

    texts: Mapping[str, str] = field(repr=False)
    certificate: Certificate

    @property
    def accounts(self) -> dict[str, str]:
        """Return the account ids by role: each key contains its account's."""
        return {role: account_of_key(text) or "" for role, text in self.texts.items()}


def keep_keys(path: Path, live_key: str = "") -> LocalKeys:
    """Read the keys that an earlier run kept, or make and keep new ones.

    Args:
        path: the file; only the user may read it.
        live_key: a live key to use in this run in place of the kept one; empty: none.
    """
    kept = _read(path)
    texts = {role: kept.get(role) or _new_text(key_type) for role, key_type in _TYPES.items()}
    for role, key_type in _TYPES.items():
        if not _is_key(texts[role], key_type):
            raise KeysInvalid(f"{path}: {role!r} is not an API key. `make fresh` makes new keys.")
    certificate = _certificate(path, kept) or self_signed()
    pems = {"certificate": certificate.chain.decode(), "private_key": certificate.key.decode()}
    if kept != texts | pems:
        write_private(path, json.dumps(texts | pems, indent=2) + "\n")
    if live_key:
        name = Settings.live_key.variable
        if not _is_key(live_key, KeyType.LIVE):
            raise KeysInvalid(f"{name} is not a live API key: copy `live` of a keys.json.")
        texts["live"] = live_key
    keys = LocalKeys(texts, certificate)
    if len(set(keys.accounts.values())) < len(texts):
        raise KeysInvalid("Two of the local stack's keys belong to one account.")
    return keys


def _read(path: Path) -> dict[str, str]:
    try:
        kept = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        kept = None
    if not isinstance(kept, dict) or not all(isinstance(text, str) for text in kept.values()):
        raise KeysInvalid(f"{path} is damaged. `make fresh` makes new keys.")
    return kept


def _new_text(key_type: KeyType) -> str:
    return new_key_text(new_token(ACCOUNT_ID_LENGTH), key_type)


def _is_key(text: str, key_type: KeyType) -> bool:
    return text.startswith(key_type.prefix) and account_of_key(text) is not None


def _certificate(path: Path, kept: Mapping[str, str]) -> Certificate | None:
    """Return the kept certificate, or None if there is none or it expires soon."""
    if not (chain := kept.get("certificate")) or not (key := kept.get("private_key")):
        return None
    try:
        expires = x509.load_pem_x509_certificate(chain.encode()).not_valid_after_utc
    except ValueError:
        raise KeysInvalid(
            f"{path}: the certificate is damaged. `make fresh` makes a new one."
        ) from None
    if expires - dt.datetime.now(dt.UTC) < _RENEWED_BEFORE:
        return None
    return Certificate(chain.encode(), key.encode())
