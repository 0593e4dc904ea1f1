"""The function of the deployed edge, run as it is in node."""

import json
import shutil
import subprocess
from typing import Any, Final

import pytest

from local import template

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node runs the function")

_HARNESS: Final = """
let chosen = 'api';
const cf = { selectRequestOriginById(id) { chosen = id; } };
%s
const event = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answer = handler(event);
console.log(JSON.stringify(Object.assign({ origin: chosen }, answer)));
"""


def route(
    length: int | None, *, method: str = "POST", uri: str = "/api/v1/emails", front: bool = True
) -> Any:
    """What the function gives for a request: the request or an answer, and the origin."""
    function = template.load()["Resources"]["EdgeRoute"]["Properties"]
    first, _, rest = function["FunctionCode"]["Fn::Sub"][0].partition("\n")
    assert first == "import cf from 'cloudfront';"
    event = {
        "context": {"requestId": "request-1"},
        "viewer": {"ip": "2001:db8::1"},
        "request": {
            "method": method,
            "uri": uri,
            "headers": {
                "x-pillarbox-client": {"value": "forged"},
                **({} if length is None else {"content-length": {"value": str(length)}}),
            },
        },
    }
    ran = subprocess.run(
        ["node", "-e", _HARNESS % rest.replace("${Front}", json.dumps(front))],
        input=json.dumps(event),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(ran.stdout)
