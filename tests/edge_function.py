"""Runs the CloudFront function of the deployed edge in Node.js."""

import json
import re
import subprocess
from typing import Any, Final

from local import template
from tests.needs import need_program

#: The code in template.yaml, before the substitution of template values.
CODE: Final[str] = template.load()["Resources"]["EdgeRoute"]["Properties"]["FunctionCode"][
    "Fn::Sub"
][0]


#: The function that chooses the file of a page of the dashboard.
PAGE_CODE: Final[str] = template.load()["Resources"]["DashboardPage"]["Properties"]["FunctionCode"]


def _limit(name: str) -> int:
    return int(re.findall(rf"const {name} = (\d+);", CODE)[0])


#: The limits of the two origins, in bytes.
LAMBDA: Final = _limit("LAMBDA_BYTES")
FRONT: Final = _limit("FRONT_BYTES")

_HARNESS: Final = """
let chosen = 'api';
const cf = { selectRequestOriginById(id) { chosen = id; } };
%s
const event = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answer = handler(event);
console.log(JSON.stringify(Object.assign({ origin: chosen }, answer)));
"""


def route(
    length: int | None,
    *,
    method: str = "POST",
    uri: str = "/api/v1/emails",
    front: bool = True,
    agent: str | None = "shop/1.0",
) -> Any:
    """Run the function on a request; return the request or the response, with the origin."""
    first, _, rest = CODE.partition("\n")
    assert first == "import cf from 'cloudfront';"
    event = {
        "context": {"requestId": "request-1"},
        "viewer": {"ip": "2001:db8::1"},
        "request": {
            "method": method,
            "uri": uri,
            "headers": {
                "x-pillarbox-client": {"value": "forged"},
                "x-amzn-trace-id": {"value": "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1"},
                **({} if agent is None else {"user-agent": {"value": agent}}),
                **({} if length is None else {"content-length": {"value": str(length)}}),
            },
        },
    }
    return _run(rest.replace("${Front}", json.dumps(front)), event)


def page_file(uri: str) -> str:
    """Run the function of the dashboard's pages on a path; return the path of the file."""
    answer = _run(PAGE_CODE, {"request": {"uri": uri}})
    return str(answer["uri"])


def _run(code: str, event: dict[str, Any]) -> Any:
    process = subprocess.run(
        [need_program("node"), "-e", _HARNESS % code],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(process.stdout)
