"""Where `pillarbox apply` puts secret values, and that it prints none."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
import typer

from admin import apply as command
from admin.aws.provisioning import ValueStores
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.domain.errors import ServiceError, ValidationFailed
from tests.aws import REGION, emulated_aws

_VALUE = "bx_live_000000000000secret"


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ValueStores]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with emulated_aws():
        yield ValueStores(tmp_path, boto3.Session)


@pytest.mark.parametrize("destination", ["secretsmanager:shop/web", "ssm:/shop/web", "file:web"])
def test_a_value_is_stored_read_and_replaced(values: ValueStores, destination: str) -> None:
    assert values.read(destination) is None
    for value in (_VALUE, f"{_VALUE}2"):
        values.write(destination, value)
        assert values.read(destination) == value


def test_a_value_is_encrypted_and_in_no_tag(values: ValueStores) -> None:
    values.write("ssm:/shop/web", _VALUE)
    parameter = boto3.client("ssm").get_parameter(Name="/shop/web")["Parameter"]
    assert parameter["Type"] == "SecureString"
    assert parameter["Value"].startswith("kms:")  # as the emulator shows an encrypted value
    values.write("secretsmanager:shop/web", _VALUE)
    described = boto3.client("secretsmanager").describe_secret(SecretId="shop/web")
    assert _VALUE not in str(described)


def test_a_secret_without_a_value_gets_one(values: ValueStores) -> None:
    boto3.client("secretsmanager").create_secret(Name="shop/web")
    assert values.read("secretsmanager:shop/web") is None
    values.write("secretsmanager:shop/web", _VALUE)
    assert values.read("secretsmanager:shop/web") == _VALUE


def test_a_file_that_cannot_be_used_is_an_error_of_its_destination(
    values: ValueStores, tmp_path: Path
) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "web").touch()
    for destination, use in (
        ("file:keys", values.read),
        ("file:keys", lambda place: values.write(place, _VALUE)),
        ("file:web/key", lambda place: values.write(place, _VALUE)),
    ):
        with pytest.raises(ValidationFailed) as refused:
            use(destination)
        (error,) = refused.value.errors
        assert error.field == destination
        assert _VALUE not in error.message


def test_a_run_prints_no_value(
    values: ValueStores,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answer(_: object, method: str, path: str, **request: Any) -> tuple[int, Any]:
        assert request["key"] == "bx_live_management"
        match method, path:
            case "GET", "/v1/me":
                return 200, {"id": "key_1", "scopes": ["keys:write"]}
            case "GET", "/v1/account":
                return 200, {"id": "0" * 12, "name": "Shop", "plan": "free"}
            case "POST", "/v1/keys":
                return 201, {"key": _VALUE}
            case "GET", "/v1/domains/shop.example":
                return 404, {"error": {"code": "domain_not_found", "message": ""}}
            case "GET", _:
                return 200, {"items": []}
        raise ServiceError("service_unavailable", f"{method} {path}")

    file = tmp_path / "shop.yaml"
    keys = [
        {"name": kind, "preset": "send", "valueTo": f"{kind}:shop"}
        for kind in ("ssm", "secretsmanager", "file")
    ]
    account: dict[str, Any] = {"name": "Shop", "keys": keys}
    file.write_text(json.dumps({"version": 1, "accounts": [account]}))
    monkeypatch.setenv(command.KEY_VARIABLE, "bx_live_management")
    monkeypatch.setattr(HttpApiProbe, "request", answer)
    context: Any = SimpleNamespace(obj=SimpleNamespace(local=False))
    command.apply(context, file, url="https://pillarbox.example")
    account["domains"] = [{"name": "shop.example"}]
    file.write_text(json.dumps({"version": 1, "accounts": [account]}))
    with pytest.raises(ServiceError) as failed:
        command.apply(context, file, url="https://pillarbox.example")
    with pytest.raises(typer.Exit):
        command.apply(context, file, plan=True, url="https://pillarbox.example")
    printed = capsys.readouterr()
    text = printed.out + printed.err + str(failed.value)
    assert "+ key ssm" in text
    assert "bx_live_" not in text
    assert values.read("ssm:shop") == _VALUE
    monkeypatch.delenv(command.KEY_VARIABLE)
    with pytest.raises(ValidationFailed, match=command.KEY_VARIABLE):  # not 2, which means changes
        command.apply(context, file, plan=True)
