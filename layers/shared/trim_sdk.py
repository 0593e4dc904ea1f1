"""Remove the data from botocore that the layer's clients do not read.

    python3.13 trim_sdk.py FOLDER [SERVICE…]    (the folder that contains botocore)

When botocore makes its first client, it reads the endpoints of all services: a sixth of all
instructions of a cold start. botocore's code stays unchanged.

This program belongs to the layer's folder: SAM builds the layer from a copy of this folder, and
rebuilds it only after a change in it.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Final

#: Each client of the layer: the name of its data folder, and its name in the endpoints.
SERVICES: Final = {
    "cloudwatch": "monitoring",
    "dynamodb": "dynamodb",
    "lambda": "lambda",
    "s3": "s3",
    "secretsmanager": "secretsmanager",
    "sesv2": "email",
    "sqs": "sqs",
}


def trim(site: Path, *more: str) -> None:
    """Remove the data of all other services from the botocore installed in a folder.

    Args:
        site: the folder.
        more: services that are kept too, whose name in the endpoints is the same.

    Raises:
        FileNotFoundError: botocore or the data of one of the services is missing.
    """
    services = SERVICES | {name: name for name in more}
    data = site / "botocore" / "data"
    for service in services:
        (data / service).stat()
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in services:
            shutil.rmtree(folder)
    path = data / "endpoints.json"
    endpoints = json.loads(path.read_bytes())
    for partition in endpoints["partitions"]:
        partition["services"] = {
            name: partition["services"][name]
            for name in services.values()
            if name in partition["services"]
        }
    path.unlink()  # an installer may have linked the file to its cache
    path.write_text(json.dumps(endpoints, separators=(",", ":")))


if __name__ == "__main__":
    trim(Path(sys.argv[1]), *sys.argv[2:])
