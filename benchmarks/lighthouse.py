"""What Lighthouse says of the dashboard's pages: `.venv/bin/python -m benchmarks.lighthouse`.

It opens the built dashboard (`make dashboard`) before the real handlers on moto, in Chromium, as a
desktop or with `--form mobile` as a phone. It needs npm's registry once. Performance depends on the
machine, which should be idle. The other categories do not.
"""

import json
import socket
import subprocess
from argparse import ArgumentParser
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.sync_api import BrowserContext

from benchmarks.accepting import LOG
from local import template
from local.dashboard import Dashboard
from pillarbox.http.sign_in.wire import COOKIE
from tests.browser.engines import playwright
from tests.contract.bodies import otp
from tests.contract.client import Api
from tests.contract.http_server import serving
from tests.contract.name_server import running_name_server
from tests.contract.service import Service, running_service
from tests.contract.sign_in import signed_in
from tests.needs import need_chromium, need_program

_LIGHTHOUSE: Final = ("npx", "--yes", "lighthouse@13.5.0")
_CATEGORIES: Final = ("performance", "accessibility", "best-practices", "seo")


def main() -> None:
    """Print the scores of each page, and what costs a category points."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=("desktop", "mobile"), default="desktop")
    form = parser.parse_args().form
    lines = [f"| page | {' | '.join(_CATEGORIES)} | not passed |", "|---|---:|---:|---:|---:|---|"]
    rules = template.inlined(template.load())
    with (
        redirect_stdout(LOG),  # the functions log
        running_name_server() as dns,
        running_service(dns) as service,
        serving(lambda api: Dashboard(api, rules)) as url,
        TemporaryDirectory() as profile,
        playwright() as program,
        socket.create_server(("127.0.0.1", 0)) as free,
    ):
        port = free.getsockname()[1]
        free.close()
        context = program.chromium.launch_persistent_context(
            profile, executable_path=need_chromium(), args=[f"--remote-debugging-port={port}"]
        )
        pages, cookie = _prepared(service)
        for name, path in pages.items():
            if name != "sign-in":
                _sign_in(context, url, cookie)
            lines.append(_row(name, _audit(f"{url}{path}", port, form)))
        context.close()
    print("\n".join(lines))


def _prepared(service: Service) -> tuple[dict[str, str], str]:
    """Make an account with emails; return its pages, and the cookie of its owner."""
    account = service.account()
    service.domain(account, "pending.example", verified=False)
    text = service.template(account, "<p>Hello {{ name }}</p>")
    api = Api(service.key(account))
    for number in range(40):
        api.send(otp(), idempotency_key=str(number))
    service.deliver()
    newest = api.raw("GET", "/emails").json["items"][0]["messageId"]
    cookie = signed_in(service, "ada@shop.example", account).cookie or ""
    names = ("domains", "templates", "webhooks", "suppressions", "keys", "members", "account")
    return {
        "sign-in": "/app/",
        "overview": "/app/",
        "activity": "/app/activity",
        "an email": f"/app/activity/{newest}",
        "a domain": "/app/domains/pending.example",
        "the editor": f"/app/templates/{text}",
        **{name: f"/app/{name}" for name in names},
    }, cookie


def _sign_in(context: BrowserContext, url: str, cookie: str) -> None:
    # Chromium's protocol takes a secure cookie for https only.
    context.add_cookies(
        [
            {
                "name": COOKIE,
                "value": cookie,
                "url": url.replace("http:", "https:"),
                "httpOnly": True,
                "secure": True,
                "sameSite": "Strict",
            }
        ]
    )


def _audit(url: str, port: int, form: str) -> dict[str, Any]:
    options = [f"--port={port}", "--output=json", "--quiet", "--disable-storage-reset"]
    options += [f"--only-categories={','.join(_CATEGORIES)}"]
    options += ["--preset=desktop"] if form == "desktop" else []
    npx = need_program(_LIGHTHOUSE[0])
    done = subprocess.run(
        [npx, *_LIGHTHOUSE[1:], url, *options],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[1],
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _row(name: str, report: dict[str, Any]) -> str:
    categories, audits = report["categories"], report["audits"]
    scores = [f"{categories[name]['score'] * 100:.0f}" for name in _CATEGORIES]
    missed = [
        audit["id"]
        for category in categories.values()
        for audit in category["auditRefs"]
        if audit["weight"] and audits[audit["id"]]["score"] not in {None, 1}
    ]
    return f"| {name} | {' | '.join(scores)} | {', '.join(missed) or 'none'} |"


if __name__ == "__main__":
    main()
