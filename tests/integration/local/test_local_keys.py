"""The keys and the certificate of the local stack survive its restarts."""

import datetime as dt
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local import relay, template
from local.environment import environment_file, write_authorities
from local.keys import KeysInvalid, keep_keys
from pillarbox.domain.accounts.key import KeyType, new_key_text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_a_restart_has_the_same_keys_and_certificate(path: Path) -> None:
    first, second = keep_keys(path), keep_keys(path)
    assert (second.texts, second.certificate) == (first.texts, first.certificate)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    types = {role: KeyType(text.split("_")[1]) for role, text in first.texts.items()}
    assert types == {"live": "live", "live_free": "live", "preview": "preview"}


def test_a_key_of_the_environment_comes_first(path: Path) -> None:
    kept = keep_keys(path)
    given = new_key_text("0123456789ab", KeyType.LIVE)
    keys = keep_keys(path, given)
    assert keys.texts["live"] == given
    assert keys.accounts["live"] == "0123456789ab"
    assert keep_keys(path).texts == kept.texts


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _path: "bx_live_typo",
        lambda path: keep_keys(path).texts["preview"],
        lambda path: keep_keys(path).texts["live_free"],
    ],
)
def test_an_unusable_key_of_the_environment_is_refused(
    path: Path, spoil: Callable[[Path], str]
) -> None:
    given = spoil(path)
    with pytest.raises(KeysInvalid) as refusal:
        keep_keys(path, given)
    assert given not in str(refusal.value)


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"live": 1}', '{"live": "bx_live_typo"}', b"\xff"]
)
def test_a_damaged_file_is_refused(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KeysInvalid, match="make fresh"):
        keep_keys(path)
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())


def test_a_certificate_that_expires_soon_is_renewed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_VALID", dt.timedelta(days=29))
    first = keep_keys(path)
    monkeypatch.undo()
    second = keep_keys(path)
    assert second.certificate != first.certificate
    assert second.texts == first.texts
    assert keep_keys(path).certificate == second.certificate


def test_the_authorities_of_the_system_stay_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tmp_path / "system.crt"
    system.write_text("SYSTEM\n")
    monkeypatch.setattr("local.environment._AUTHORITIES", (tmp_path / "absent", system))
    write_authorities(tmp_path / "authorities.pem", b"OURS\n")
    assert (tmp_path / "authorities.pem").read_text() == "SYSTEM\nOURS\n"
    monkeypatch.setattr("local.environment._AUTHORITIES", ())
    write_authorities(tmp_path / "authorities.pem", b"OURS\n")
    assert (tmp_path / "authorities.pem").read_text() == "OURS\n"


def test_make_fresh_renews_the_keys(path: Path) -> None:
    before = keep_keys(path)
    subprocess.run(
        ["make", "--file", template.ROOT / "Makefile", "fresh"],
        env={"PATH": os.environ["PATH"], "PILLARBOX_STATE_DIR": str(path.parent)},
        check=True,
        capture_output=True,
    )
    after = keep_keys(path)
    assert not set(before.texts.values()) & set(after.texts.values())
    assert after.certificate != before.certificate


def test_a_shell_can_source_the_environment(tmp_path: Path) -> None:
    state: dict[str, Any] = {
        "base_url": "http://127.0.0.1:1",
        "inbox_url": "http://127.0.0.1:2",
        "keys": {"live": "bx_live_x"},
        "template_id": "t1",
        "smtp": {"host": "127.0.0.1", "port": 3, "certificate": "/a folder/it's.pem"},
    }
    file = tmp_path / "env"
    file.write_text(environment_file(state, tmp_path / "authorities.pem"))
    done = subprocess.run(
        ["sh", "-c", ". ./env && env"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        check=True,
        capture_output=True,
        text=True,
    )
    assert {
        "PILLARBOX_URL=http://127.0.0.1:1",
        "PILLARBOX_INBOX_URL=http://127.0.0.1:2",
        "PILLARBOX_KEY=bx_live_x",
        "PILLARBOX_TEMPLATE_ID=t1",
        "SMTP_HOST=127.0.0.1",
        "SMTP_PORT=3",
        "SMTP_USERNAME=apikey",
        "SMTP_PASSWORD=bx_live_x",
        "NODE_EXTRA_CA_CERTS=/a folder/it's.pem",
        f"SSL_CERT_FILE={tmp_path}/authorities.pem",
    } <= set(done.stdout.splitlines())
