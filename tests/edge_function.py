"""Runs the CloudFront functions of the deployed edge, all calls in one process of Node.js."""

import atexit
import json
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from local import template
from tests.needs import need_program

_RESOURCES: Final[Any] = template.inlined(template.load())["Resources"]
#: The code in the template, before the substitution of template values.
CODE: Final[str] = _RESOURCES["EdgeRoute"]["Properties"]["FunctionCode"]["Fn::Sub"][0]
#: The function that chooses the file of a page of the dashboard.
PAGE_CODE: Final[str] = _RESOURCES["DashboardPage"]["Properties"]["FunctionCode"]


def _limit(name: str) -> int:
    return int(re.findall(rf"const {name} = (\d+);", CODE)[0])


#: The limits of the two origins, in bytes.
LAMBDA: Final = _limit("LAMBDA_BYTES")
FRONT: Final = _limit("FRONT_BYTES")


def _always(origin: Any) -> set[str]:
    if "Fn::If" not in origin:
        return {origin["Id"]}
    _, *cases = origin["Fn::If"]
    ids = [case.get("Id") for case in cases]
    return {ids[0]} if ids[0] == ids[1] else set()


_DISTRIBUTION: Final[Any] = _RESOURCES["Edge"]["Properties"]["DistributionConfig"]
#: A change of parameters reaches the function minutes before the distribution, so it may choose an
#: origin that every distribution has.
_ORIGINS: Final = sorted(set().union(*map(_always, _DISTRIBUTION["Origins"])))

#: Reads lines with the number of a function, its code if that is new, and its event. It ends with
#: its standard input.
_HARNESS: Final = """
let chosen;
const cf = {
  selectRequestOriginById(id) {
    if (!ORIGINS.includes(id)) throw new Error('the distribution may lack the origin ' + id);
    chosen = id;
  }
};
const handlers = [];
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { number, code, event, origin } = JSON.parse(line);
  if (code) handlers[number] = new Function('cf', code + '\\nreturn handler;')(cf);
  chosen = origin;
  const answer = handlers[number](event);
  console.log(JSON.stringify(Object.assign({ origin: chosen }, answer)));
});
"""


def route(
    length: int | None,
    *,
    method: str = "POST",
    uri: str = "/api/v1/emails",
    front: bool = True,
    agent: str | None = "shop/1.0",
    send_url: bool = False,
    behaviour: bool | None = None,
    keys: tuple[str, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> Any:
    """Run the function on a request; return the request or the response, with the origin.

    `behaviour` is whether the distribution sends the path to the URL; by default as the function.
    """
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
                **({"idempotency-key": _values(keys)} if keys else {}),
                **{name: {"value": value} for name, value in (headers or {}).items()},
            },
        },
    }
    code = rest.replace("${Front}", json.dumps(front))
    to_url = uri == "/api/v1/emails" and (send_url if behaviour is None else behaviour)
    code = code.replace("${SendUrl}", json.dumps(send_url))
    return _run(code, event, "send" if to_url else "api")


def _values(values: tuple[str, ...]) -> dict[str, Any]:
    """Return the values of a field as CloudFront passes them to a function."""
    several = {"multiValue": [{"value": value} for value in values]} if len(values) > 1 else {}
    return {"value": values[0], **several}


def page_file(uri: str) -> str:
    """Run the function of the dashboard's pages on a path; return the path of the file."""
    answer = _run(PAGE_CODE, {"request": {"uri": uri}})
    return str(answer["uri"])


def _run(code: str, event: dict[str, Any], origin: str = "dashboard") -> Any:
    node, numbers = _node()
    assert node.stdin
    assert node.stdout
    new = {} if code in numbers else {"code": code}
    number = numbers.setdefault(code, len(numbers))
    request = {"number": number, "event": event, "origin": origin, **new}
    node.stdin.write(json.dumps(request) + "\n")
    node.stdin.flush()
    answer = node.stdout.readline()
    if not answer:
        _node.cache_clear()  # the process has ended
        raise AssertionError("the function has failed: see standard error")
    return json.loads(answer)


@cache
def _node() -> tuple[subprocess.Popen[str], dict[str, int]]:
    """Return the process, and the numbers of the functions that it has."""
    node = subprocess.Popen(
        [need_program("node"), "-e", f"const ORIGINS = {json.dumps(_ORIGINS)};{_HARNESS}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(node.communicate)  # closes its input and waits for its end
    return node, {}
