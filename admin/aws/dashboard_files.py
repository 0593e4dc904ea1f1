"""Uploads the dashboard to its bucket, so that an open tab of an older version keeps working."""

import datetime as dt
import json
from collections.abc import Mapping
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Final

import boto3
from botocore.exceptions import ClientError

from admin.aws import stacks
from pillarbox.adapters.s3 import delete_objects

_ASSETS: Final = "assets/"
_PAGES: Final = ("app/preview.html", "widget.html", "widget.js", "app/index.html")
#: When each asset was replaced, by its name. The distribution serves neither this nor the folder.
_REPLACED: Final = "replaced.json"
_KEPT: Final = dt.timedelta(days=30)


def upload(stack_name: str, dist: Path, now: dt.datetime) -> int | None:
    """Upload new assets, then the pages, and delete assets that were replaced 30 days ago.

    Returns:
        How many new assets there were; None for a stack without an edge, which has no dashboard.
    """
    bucket = stacks.resources(stack_name).get("DashboardFiles")
    if bucket is None:
        return None
    s3 = boto3.client("s3")
    pages: Any = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=_ASSETS)
    stored = {item["Key"] for page in pages for item in page.get("Contents", [])}
    built = {f"{_ASSETS}{path.name}": path for path in (dist / "assets").iterdir()}
    for key in sorted(built.keys() - stored):
        _put(s3, bucket, key, built[key].read_bytes())
    for page in _PAGES:
        _put(s3, bucket, page, (dist / page).read_bytes())
    before = _read_replaced(s3, bucket)
    replaced = {key: before.get(key, now) for key in stored - built.keys()}
    if expired := [key for key, at in replaced.items() if now - at > _KEPT]:
        delete_objects(s3, bucket, expired)
    kept = {key: at.isoformat() for key, at in replaced.items() if now - at <= _KEPT}
    _put(s3, bucket, _REPLACED, json.dumps(kept).encode())
    return len(built.keys() - stored)


def _put(s3: Any, bucket: str, key: str, body: bytes) -> None:  # noqa: ANN401  boto3's client
    kind = guess_type(key)[0] or "application/octet-stream"
    s3.put_object(Bucket=bucket, Key=key, Body=body, ContentType=kind)


def _read_replaced(s3: Any, bucket: str) -> Mapping[str, dt.datetime]:  # noqa: ANN401  boto3's client
    try:
        text = s3.get_object(Bucket=bucket, Key=_REPLACED)["Body"].read()
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchKey":
            return {}
        raise
    return {key: dt.datetime.fromisoformat(at) for key, at in json.loads(text).items()}
