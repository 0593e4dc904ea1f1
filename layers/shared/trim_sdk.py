"""Leave of botocore's data what the layer's clients read.

    python3.13 trim_sdk.py FOLDER    (the folder that botocore is installed in)

Making its first client, botocore reads the endpoints of all the services that there are: a
sixth of all that a cold start executes. The code itself stays as it is.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Final

#: The folder of botocore's data and the name in its endpoints, for each client of the layer.
SERVICES: Final = {"dynamodb": "dynamodb", "s3": "s3", "sesv2": "email", "sqs": "sqs"}


def trim(site: Path) -> None:
    """Remove the data of other services from the botocore that is installed in a folder.

    Raises:
        FileNotFoundError: there is none, or a service's data is not where it was.
    """
    data = site / "botocore" / "data"
    for service in SERVICES:
        (data / service).stat()
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in SERVICES:
            shutil.rmtree(folder)
    endpoints = data / "endpoints.json"
    known = json.loads(endpoints.read_bytes())
    for partition in known["partitions"]:
        partition["services"] = {
            name: partition["services"][name]
            for name in SERVICES.values()
            if name in partition["services"]
        }
    endpoints.unlink()  # an installer may have linked the file to its cache
    endpoints.write_text(json.dumps(known, separators=(",", ":")))


if __name__ == "__main__":
    trim(Path(sys.argv[1]))
