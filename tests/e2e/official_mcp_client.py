"""Send emails with the official client of MCP; write what happened to each as JSON.

    .venv-mcp/bin/python tests/e2e/official_mcp_client.py URL < cases.json

The key is in the variable PILLARBOX_API_KEY. Each case is a mode, an answer and the arguments of
`send_email`. The mode is auto, legacy or a revision. The answer is what the user says when asked:
accept or decline, or none for a client that cannot ask. Each result is validated by the schema of
the revision that the client speaks.
"""

import asyncio
import json
import os
import sys
from typing import Any

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from mcp_types.methods import validate_server_result


async def run(url: str, mode: str, answer: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Connect, list the tools, call one, and send."""
    statuses: list[int] = []
    results: list[tuple[str, dict[str, Any]]] = []
    asked: list[str] = []

    async def keep(response: httpx2.Response) -> None:
        await response.aread()
        statuses.append(response.status_code)
        request = json.loads(response.request.content)
        if "id" in request:
            results.append((request["method"], response.json()))

    async def ask(_: object, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action=answer, content={} if answer == "accept" else None)

    headers = {"X-API-Key": os.environ["PILLARBOX_API_KEY"]}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        http.event_hooks["response"].append(keep)
        client = Client(
            streamable_http_client(url, http_client=http),
            mode=mode,
            elicitation_callback=None if answer == "none" else ask,
        )
        async with client:
            version = client.protocol_version
            tools = [tool.name for tool in (await client.list_tools()).tools]
            starters = await client.call_tool("list_starters")
            sent = await client.call_tool("send_email", arguments)
    for method, response in results:
        validate_server_result(method, version, response["result"])
    return {
        "version": version,
        "tools": tools,
        "starters": len(starters.structured_content["items"]),
        "asked": asked,
        "sent": sent.structured_content,
        "statuses": statuses,
        "validated": [method for method, _ in results],
    }


if __name__ == "__main__":
    cases = json.load(sys.stdin)
    sys.stdout.write(json.dumps([asyncio.run(run(sys.argv[1], *case)) for case in cases]))
