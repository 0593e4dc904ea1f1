"""`pillarbox deploy` uploads the dashboard without breaking open tabs."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import boto3
import pytest

from admin.aws import dashboard_files, stacks
from pillarbox.adapters.dynamodb.table import Table

BUCKET = "pillarbox-dashboard"
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def s3(table: Table, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The bucket of the stack, in memory, with a note of every object that is put."""
    assert table.name
    monkeypatch.setattr(stacks, "resources", lambda _name: {"DashboardFiles": BUCKET})
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    return client


def build(folder: Path, *assets: str) -> Path:
    """Return a built dashboard whose page names these assets."""
    dist = folder / "-".join(assets)
    (dist / "assets").mkdir(parents=True)
    (dist / "app").mkdir()
    for name in assets:
        (dist / "assets" / name).write_text(name)
    (dist / "app" / "index.html").write_text(" ".join(assets))
    for name in ("app/preview.html", "widget.html", "widget.js"):
        (dist / name).touch()
    return dist


def names(s3: Any) -> set[str]:
    listed = s3.list_objects_v2(Bucket=BUCKET)["Contents"]
    return {item["Key"].removeprefix("assets/") for item in listed if "assets/" in item["Key"]}


def page(s3: Any) -> str:
    text: bytes = s3.get_object(Bucket=BUCKET, Key="app/index.html")["Body"].read()
    return text.decode()


def test_new_assets_come_before_the_page(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert dashboard_files.upload("pillarbox", build(tmp_path, "a.js", "b.css"), NOW) == 2
    assert s3.head_object(Bucket=BUCKET, Key="assets/b.css")["ContentType"] == "text/css"
    assert s3.head_object(Bucket=BUCKET, Key="app/index.html")["ContentType"] == "text/html"
    order: list[str] = []
    put = dashboard_files._put

    def note(client: Any, bucket: str, key: str, body: bytes) -> None:
        order.append(key)
        put(client, bucket, key, body)

    monkeypatch.setattr(dashboard_files, "_put", note)
    assert dashboard_files.upload("pillarbox", build(tmp_path, "a.js", "c.css"), NOW) == 1
    pages = ["app/preview.html", "widget.html", "widget.js", "app/index.html"]
    assert order == ["assets/c.css", *pages, "replaced.json"]


def test_a_replaced_asset_stays_for_30_days(s3: Any, tmp_path: Path) -> None:
    """An open tab still gets its assets after a deploy; those of a month ago are deleted."""
    old, new = build(tmp_path, "a.js"), build(tmp_path, "b.js")
    dashboard_files.upload("pillarbox", old, NOW)
    later = NOW + dt.timedelta(days=90)  # it was current all this time
    dashboard_files.upload("pillarbox", new, later)
    assert names(s3) == {"a.js", "b.js"}
    assert page(s3) == "b.js"
    dashboard_files.upload("pillarbox", new, later + dt.timedelta(days=29))
    assert names(s3) == {"a.js", "b.js"}
    dashboard_files.upload("pillarbox", new, later + dt.timedelta(days=31))
    assert names(s3) == {"b.js"}


def test_an_asset_that_comes_back_is_current_again(s3: Any, tmp_path: Path) -> None:
    """A rollback makes the old assets current: they are no longer counted as replaced."""
    old, new = build(tmp_path, "a.js"), build(tmp_path, "b.js")
    for dist in (old, new, old):
        dashboard_files.upload("pillarbox", dist, NOW)
    assert page(s3) == "a.js"
    replaced = json.loads(s3.get_object(Bucket=BUCKET, Key="replaced.json")["Body"].read())
    assert replaced == {"assets/b.js": NOW.isoformat()}


def test_a_stack_without_an_edge_has_no_dashboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stacks, "resources", lambda _name: {})
    assert dashboard_files.upload("pillarbox", build(tmp_path, "a.js"), NOW) is None
