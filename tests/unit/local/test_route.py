"""The local edge chooses the origin as the deployed one does."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from local import template
from local.route import Origin, Route

ROUTE = Route(template.load())
LAMBDA, FRONT = ROUTE.lambda_bytes, ROUTE.front_bytes
SENDS = ["/api/v1/emails", "/api/v1/v1/emails/batch", "/api/v1/emails/"]
OTHERS = ["/api/v1/emails/analytics", "/api/v1/templates", "/api/v1/starter-templates/otp/preview"]
#: Method, path, Content-Length, who answers.
REQUESTS: list[tuple[str, str, int | None, Origin]] = [
    *(
        ("POST", path, length, origin)
        for path in SENDS
        for length, origin in (
            (2, Origin.API),
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.FRONT),
            (FRONT, Origin.FRONT),
            (FRONT + 1, Origin.NONE),
            (None, Origin.FRONT),
        )
    ),
    *(
        ("POST", path, length, origin)
        for path in OTHERS
        for length, origin in (
            (LAMBDA, Origin.API),
            (LAMBDA + 1, Origin.NONE),
            (None, Origin.API),
        )
    ),
    ("GET", SENDS[0], None, Origin.API),
    ("PUT", SENDS[0], LAMBDA + 1, Origin.NONE),
]

#: The function in place of CloudFront's module, and what it makes of each request.
IN_NODE = """
let chosen;
const cf = { selectRequestOriginById: (id) => { chosen = id; } };
CODE
const requests = JSON.parse(require('fs').readFileSync(0));
console.log(JSON.stringify(requests.map(([method, uri, length]) => {
  chosen = 'api';
  const headers = length === null ? {} : { 'content-length': { value: String(length) } };
  const context = { requestId: 'r' }, viewer = { ip: '192.0.2.1' };
  const answer = handler({ context, viewer, request: { method, uri, headers } });
  return answer.statusCode ? ['none', answer.statusCode, JSON.parse(answer.body).error] : [chosen];
})));
"""


def in_node() -> list[list[object]]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run the function with")
    code, values = template.load()["Resources"]["EdgeRoute"]["Properties"]["FunctionCode"][
        "Fn::Sub"
    ]
    assert list(values) == ["Front"]
    code = code.replace("import cf from 'cloudfront';", "").replace("${Front}", "true")
    done = subprocess.run(
        [node, "-e", IN_NODE.replace("CODE", code)],
        input=json.dumps([request[:3] for request in REQUESTS]),
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(node).parent,
    )
    answers: list[list[object]] = json.loads(done.stdout)
    return answers


@pytest.mark.parametrize(("method", "path", "length", "origin"), REQUESTS)
def test_the_origin_is_chosen_by_size(
    method: str, path: str, length: int | None, origin: Origin
) -> None:
    """What Lambda takes goes to the API, larger sends to the front, nothing beyond the limits."""
    chosen, limit = ROUTE.origin(method, path, length)
    assert chosen is origin
    assert limit == (FRONT if method == "POST" and path in SENDS else LAMBDA)


def test_the_deployed_function_chooses_alike() -> None:
    """The code that CloudFront runs, run in node, decides every request as the local rule."""
    for request, answer in zip(REQUESTS, in_node(), strict=True):
        assert answer[0] == request[3].name.lower(), request
        if request[3] is Origin.NONE:
            _, limit = ROUTE.origin(*request[:3])
            status, error = answer[1:]
            assert status == 413
            assert error == {
                "code": "request_too_large",
                "message": "The request is too large.",
                "type": "invalid_request_error",
                "details": {"limit_bytes": limit},
            }
