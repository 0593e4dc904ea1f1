# ruff: noqa: T201  a program that is run by hand prints its results
"""Use the SDKs of other services, and what frameworks send, on a running stack: `make sdks`.

Each program prints what it did as JSON: whether it worked, or the recipient of an email with texts
that the email must have, which the inbox shows. `tests/contract/test_resend.py` uses Resend's SDK
for Python.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import httpx

from verification.clients.node import ROOT, WORK, install, tool
from verification.stack import running

_HERE: Final = Path(__file__).parent
_PROGRAMS: Final = (*("resend.mjs", "postmark.mjs", "django_send.py", "symfony.php"),)


def main() -> int:
    """Return 1 if a program did not get what the other service would give it."""
    install()
    passed = failed = 0
    with running(ROOT / ".local" / "sdks-stack") as stack:
        base, key = f"{stack['base_url']}/api", stack["keys"]["live"]
        own = {
            "RESEND_API_KEY": key,
            "RESEND_BASE_URL": f"{base}/resend",
            "POSTMARK_KEY": key,
            "POSTMARK_HOST": f"{base}/postmark".partition("://")[2],
            "INBOX_URL": stack["inbox_url"],
        }
        hook = {"url": f"{stack['inbox_url']}/hooks/postmark", "types": ["email.received"]}
        headers = {"X-API-Key": key, "User-Agent": "sdks"}
        body = hook | {"format": "postmark"}
        httpx.post(f"{base}/v1/webhooks", json=body, headers=headers).raise_for_status()
        for name in _PROGRAMS:
            command = {".mjs": "node", ".php": "php"}.get(Path(name).suffix, sys.executable)
            # Node looks for packages beside a program.
            program = shutil.copy(_HERE / name, WORK) if command == "node" else _HERE / name
            if not shutil.which(command):
                sys.exit(f"{command} is not installed.")
            done = subprocess.run(
                (command, program),
                env=os.environ | own,
                cwd=WORK,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                sys.exit(done.stderr)
            for what, result in json.loads(done.stdout).items():
                missing = _missing(stack["inbox_url"], **result) if _is_email(result) else []
                worked = bool(result) and not missing
                print(f"{name}: {what}: {'passed' if worked else f'FAILED {missing}'}")
                passed, failed = passed + worked, failed + (not worked)
        _check_event(stack["inbox_url"])
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


def _check_event(inbox_url: str) -> None:
    """End the program unless the answer, as it was posted, has the type that Postmark's SDK has."""
    query = {"receiver": "postmark", "type": "", "wait": "60"}
    event = httpx.get(f"{inbox_url}/webhooks/latest", params=query, timeout=90).json()["body"]
    typed = "export const event: Models.InboundWebhook = posted;"  # which may have more fields
    source = f'import type {{ Models }} from "postmark";\nconst posted = {event};\n{typed}\n'
    (WORK / "inbound.ts").write_text(source)
    tool("tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "inbound.ts")
    print("postmark: the type of an inbound webhook: passed")


def _is_email(result: object) -> bool:
    return isinstance(result, dict) and {*result} == {"to", "has"}


def _missing(inbox_url: str, to: str, has: list[str]) -> list[str]:
    """Return which texts the email to a recipient lacks; its fields are unfolded."""
    query = {"to": to, "wait": "60"}
    (mail,) = httpx.get(f"{inbox_url}/messages", params=query, timeout=90).json()["items"]
    raw = httpx.get(f"{inbox_url}/messages/{mail['id']}/raw", timeout=90).text
    unfolded = raw.replace("\r\n ", " ")
    return [text for text in has if text not in unfolded]


if __name__ == "__main__":
    sys.exit(main())
