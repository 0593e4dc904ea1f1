"""A program that runs the edge in its own process, so that a kill ends nothing else."""

import json
import sys

import httpx
import uvicorn

from local import template
from local.edge import INTEGRATION_TIMEOUT, Edge, FrontOrigin


def main(stage: str, front: str, secret: str, port: int) -> None:
    """Serve on a local port until the process is killed."""
    client = httpx.AsyncClient(timeout=INTEGRATION_TIMEOUT, trust_env=False)
    edge = Edge(template.load(), stage, FrontOrigin(front, secret), client)
    uvicorn.run(edge, host="127.0.0.1", port=port, log_level="critical", lifespan="off")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
