"""A program that runs the edge in its own process, so that a kill ends nothing else."""

import json
import sys

import httpx
import uvicorn

from local import template
from local.edge import INTEGRATION_TIMEOUT, Edge, FrontOrigin, StageOrigin


def main(stage: str, access_key_id: str, front: str, secret: str, port: int) -> None:
    """Serve on a local port until the process is killed."""
    client = httpx.AsyncClient(timeout=INTEGRATION_TIMEOUT, trust_env=False)
    origins = StageOrigin(stage, access_key_id), FrontOrigin(front, secret).started
    edge = Edge(template.inlined(template.load()), *origins, client)
    uvicorn.run(edge, host="127.0.0.1", port=port, log_level="critical", lifespan="off")


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
