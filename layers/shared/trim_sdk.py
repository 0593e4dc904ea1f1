"""Remove the data from botocore that the layer's clients do not read, and name its authorities.

    python3.13 trim_sdk.py FOLDER [SERVICE…]    (the folder that contains botocore)

When botocore makes its first client, it reads the endpoints of all services, and when it makes the
first one of a service, the model of each of its operations: a fifth of a delivery's cold start.
Each connection of botocore reads all of its 126 authorities: 25 ms of a processor. AWS's own
endpoints need those of Amazon, which `amazon.pem` has. botocore's code stays unchanged.

This program belongs to the layer's folder: SAM builds the layer from a copy of this folder, and
rebuilds it only after a change in it.
"""

import gzip
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

#: Each client of the layer: the name of its data folder, and its name in the endpoints.
SERVICES: Final = {
    "cloudwatch": "monitoring",
    "dynamodb": "dynamodb",
    "events": "events",
    "lambda": "lambda",
    "s3": "s3",
    "secretsmanager": "secretsmanager",
    "ses": "email",
    "sesv2": "email",
    "sqs": "sqs",
    "sts": "sts",
}
#: Their operations. The services without any here have clients of our own, and botocore's as a
#: fallback. Botocore itself calls HeadBucket, after a redirect.
OPERATIONS: Final = {
    "cloudwatch": "GetMetricStatistics",
    "events": "PutEvents",
    "lambda": "GetEventSourceMapping Invoke UpdateEventSourceMapping",
    "s3": "DeleteObject DeleteObjects GetObject HeadBucket ListObjectsV2 PutObject",
    "secretsmanager": "CreateSecret DeleteSecret DescribeSecret GetSecretValue PutSecretValue",
    "ses": "CreateReceiptRule CreateReceiptRuleSet DeleteReceiptRule DescribeActiveReceiptRuleSet"
    " SetActiveReceiptRuleSet UpdateReceiptRule",
    "sesv2": "CreateEmailIdentity CreateTenant CreateTenantResourceAssociation DeleteEmailIdentity"
    " DeleteSuppressedDestination DeleteTenant GetAccount GetConfigurationSet"
    " GetConfigurationSetEventDestinations GetEmailIdentity GetTenant ListSuppressedDestinations"
    " ListTenantResources ListTenants PutEmailIdentityFeedbackAttributes"
    " PutEmailIdentityMailFromAttributes PutTenantSuppressionAttributes SendEmail"
    " UpdateReputationEntityPolicy",
    "sts": "AssumeRole",
}


def trim(site: Path, *more: str) -> None:
    """Remove the data of all other services and operations from the botocore in a folder.

    Args:
        site: the folder.
        more: services that are kept as they are, whose name in the endpoints is the same.
    """
    services = SERVICES | {name: name for name in more}
    data = site / "botocore" / "data"
    for service in services:
        (data / service).stat()
    for folder in data.iterdir():
        if folder.is_dir() and folder.name not in services:
            shutil.rmtree(folder)
    _trim_endpoints(data / "endpoints.json", services)
    (site / "amazon.pem").write_text(amazon_authorities(site / "botocore" / "cacert.pem"))
    for service, operations in OPERATIONS.items():
        newest = max((data / service).iterdir())
        _trim_model(next(newest.glob("service-2.json*")), operations.split())


def amazon_authorities(bundle: Path) -> str:
    """Return the certificates of Amazon Trust Services and of Starfield, which signs its roots.

    AWS's endpoints in the partition `aws` have certificates of Amazon Trust Services
    (https://aws.amazon.com/blogs/security/how-to-prepare-for-aws-move-to-its-own-certificate-authority/).
    """
    parts = re.split(r"(?=^# Issuer: )", bundle.read_text(), flags=re.MULTILINE)
    return "".join(part for part in parts if re.match(r".*\bO=(Amazon|Starfield)", part))


def _trim_endpoints(path: Path, services: dict[str, str]) -> None:
    endpoints = json.loads(path.read_bytes())
    for partition in endpoints["partitions"]:
        partition["services"] = {
            name: partition["services"][name]
            for name in services.values()
            if name in partition["services"]
        }
    _write(path, endpoints)


def _trim_model(path: Path, names: list[str]) -> None:
    """Keep the operations of these names and their shapes, without documentation."""
    stored = path.read_bytes()
    model = json.loads(gzip.decompress(stored) if path.suffix == ".gz" else stored)
    operations = {name: model["operations"][name] for name in names}
    shapes: dict[str, Any] = {}
    missing = {*_shapes_in(operations)}
    while missing:
        shapes |= {name: model["shapes"][name] for name in sorted(missing)}
        missing = {*_shapes_in([shapes[name] for name in missing])} - shapes.keys()
    path.unlink()
    # Of its other parts botocore reads the documentation.
    trimmed = _without_documentation({"operations": operations, "shapes": shapes})
    _write(path.with_name("service-2.json"), model | trimmed)


def _shapes_in(part: object) -> Iterator[str]:
    """Yield the names of the shapes that a part of a model refers to."""
    if isinstance(part, dict):
        if isinstance(part.get("shape"), str):
            yield part["shape"]
        for value in part.values():
            yield from _shapes_in(value)
    elif isinstance(part, list):
        for value in part:
            yield from _shapes_in(value)


def _without_documentation(part: Any) -> Any:  # noqa: ANN401  JSON
    # A member that is called so is an object, and stays.
    if isinstance(part, dict):
        return {
            name: _without_documentation(value)
            for name, value in part.items()
            if not (name == "documentation" and isinstance(value, str))
        }
    return [_without_documentation(value) for value in part] if isinstance(part, list) else part


def _write(path: Path, value: object) -> None:
    path.unlink(missing_ok=True)  # an installer may have linked the file to its cache
    path.write_text(json.dumps(value, separators=(",", ":")))


if __name__ == "__main__":
    trim(Path(sys.argv[1]), *sys.argv[2:])
