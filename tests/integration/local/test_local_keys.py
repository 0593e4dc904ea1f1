"""`make fresh` and a shell work with what the local stack keeps."""

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from local.environment import environment_file
from local.keys import keep_keys

MAKEFILE: Final = Path(__file__).parents[3] / "Makefile"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def test_make_fresh_renews_the_keys(path: Path) -> None:
    before = keep_keys(path)
    subprocess.run(
        ["make", "--file", MAKEFILE, "fresh"],
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
