"""Where the direct client connects, whom it trusts, and as whom it calls: as botocore does."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import time
from typing import Any, Final
from unittest import mock

import botocore.session
import pytest
from botocore.exceptions import BotoCoreError, EndpointConnectionError

from pillarbox.adapters import aws, direct
from pillarbox.adapters.aws import (
    WITH_RETRIES,
    WITHOUT_RETRIES,
    connect,
    make_client,
    use_direct_client,
)
from pillarbox.adapters.direct import CallLimits, DirectClient, Endpoint
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.sdk import sdk_session
from tests.integration.webhooks.receivers import Authority
from tests.loops import for_each
from tests.ports.direct_oracle import GET, REGION, Server, both_clients
from tests.servers import Handler, serving

_KEY: Final = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Use these variables of AWS and no others."""
    others = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    with mock.patch.dict(
        os.environ, others | {"AWS_DEFAULT_REGION": REGION} | variables, clear=True
    ):
        sdk_session.cache_clear()
        yield
    sdk_session.cache_clear()
    use_direct_client(on=False)


def test_each_region_has_the_endpoint_of_botocore() -> None:
    session = botocore.session.get_session()
    found = 0
    for partition in session.get_available_partitions():
        for service in ("dynamodb", "lambda", "sqs"):
            for region in session.get_available_regions(service, partition):
                with environment({"AWS_DEFAULT_REGION": region}):
                    endpoint = Endpoint.find(service)
                resolver = session._get_internal_component("endpoint_resolver")  # type: ignore[attr-defined]
                expected = resolver.construct_endpoint(service, region, partition)
                assert expected is not None
                hosts = {expected["hostname"], expected.get("sslCommonName", "")}
                if endpoint is not None:
                    assert endpoint.url.removeprefix("https://") in hosts, (service, region)
                    found += 1
    assert found > 90


@for_each(
    "variables",
    [
        {"AWS_PROFILE": "shop"},
        {"AWS_DEFAULT_REGION": ""},
        {"AWS_DEFAULT_REGION": "us-iso-east-1"},
        {"AWS_DEFAULT_REGION": "eusc-de-east-1"},
        {"AWS_USE_FIPS_ENDPOINT": "true"},
        {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
        {"AWS_ACCOUNT_ID": "123456789012"},
        {"HTTPS_PROXY": "http://proxy.example:3128"},
        {"AWS_ENDPOINT_URL": "http://localhost:4566/path"},
        {"AWS_ENDPOINT_URL_DYNAMODB": "http://[::1]:4566"},
    ],
)
def test_what_only_botocore_knows_is_left_to_it(variables: dict[str, str]) -> None:
    """With a profile, a proxy or another kind of endpoint there is no direct client."""
    with environment(variables):
        assert Endpoint.find("dynamodb") is None


def test_the_switch_and_the_service_decide() -> None:
    """The direct client is made if the setting says so, and only for three services."""
    with environment(_KEY):
        assert not isinstance(make_client("dynamodb"), DirectClient)
        use_direct_client(on=True)
        made = [
            isinstance(make_client(service), DirectClient)
            for service in ("dynamodb", "lambda", "sqs", "sesv2")
        ]
        assert made == [True, True, True, False]


@pytest.mark.parametrize(
    ("trusted", "name", "error"),
    [
        ("AWS_CA_BUNDLE", "localhost", None),
        ("REQUESTS_CA_BUNDLE", "localhost", None),
        ("AWS_CA_BUNDLE", "other.example", "SSLError"),
        ("", "localhost", "SSLError"),
    ],
    ids=["good", "good by another variable", "another name", "another authority"],
)
def test_a_certificate_is_verified_as_botocore_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: str, name: str, error: str | None
) -> None:
    """A certificate of an unknown authority or for another name ends the call as in botocore."""
    authority = Authority(tmp_path)
    for variable in ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)
    variables = {trusted: str(authority.path)} if trusted else {}
    server = Server(authority.issue(name))
    url = {"AWS_ENDPOINT_URL": f"https://localhost:{server.port}"}
    direct.tls.cache_clear()
    results: list[str | None] = []
    try:
        with both_clients(url | variables, "dynamodb", WITHOUT_RETRIES) as both:
            for kind in ("botocore", "direct"):
                try:
                    both[kind].get_item(**GET[1])
                    results.append(None)
                except BotoCoreError as failure:
                    results.append(type(failure).__name__)
    finally:
        server.close()
        direct.tls.cache_clear()
    assert results == [error, error]
    assert len(server.requests) == (0 if error else 2)


@pytest.fixture
def trusted_server(tmp_path: Path) -> Iterator[Server]:
    """Run a server over TLS that the environment names and trusts, with the direct client on."""
    authority = Authority(tmp_path)
    server = Server(authority.issue("localhost"))
    url = f"https://localhost:{server.port}"
    direct.tls.cache_clear()
    with environment(_KEY | {"AWS_CA_BUNDLE": str(authority.path), "AWS_ENDPOINT_URL": url}):
        use_direct_client(on=True)
        yield server
    server.close()
    direct.tls.cache_clear()


def test_the_first_call_of_both_tables_uses_the_connection_of_loading(
    trusted_server: Server,
) -> None:
    """The session tickets that arrive before a response are no reason for another handshake."""
    connect()
    for table in (Table("a"), Table("b")):
        table.get({"pk": {"S": "a"}})
    # The adapters of queues and functions that other tests imported connect, too.
    assert trusted_server.connections == len(aws._OF_ADAPTERS & {"dynamodb", "lambda", "sqs"})
    assert len(trusted_server.requests) == 2


@pytest.mark.parametrize("limits", [WITH_RETRIES, WITHOUT_RETRIES], ids=["retries", "one try"])
@pytest.mark.parametrize("seconds", [0, 59, 61], ids=["closed", "59 s", "61 s"])
def test_a_connection_of_loading_that_is_stale_is_replaced(
    trusted_server: Server, monkeypatch: pytest.MonkeyPatch, limits: CallLimits, seconds: int
) -> None:
    """The first request makes its call once, if the server closed the connection or it is old."""
    waits: list[float] = []
    monkeypatch.setattr(direct, "sleep", waits.append)
    trusted_server.idle = None if seconds else 0.01
    client = make_client("dynamodb", limits)
    client.connect()
    if seconds:
        later = time() + seconds
        monkeypatch.setattr(direct, "time", lambda: later)
    else:
        trusted_server.wait_until_closed()
        trusted_server.idle = None
    client.get_item(**GET[1])
    assert trusted_server.connections == (1 if seconds == 59 else 2)
    assert (len(trusted_server.requests), waits) == (1, [])


def test_loading_does_not_fail_without_a_service() -> None:
    """What cannot be reached then is connected to by the first call."""
    with environment(_KEY | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}):
        use_direct_client(on=True)
        client = make_client("dynamodb")
        client.connect()
        with pytest.raises(EndpointConnectionError):
            client.get_item(**GET[1])


class _Roles(Handler):
    """Gives a container's role new keys at each request, if the token is right."""

    expires_in = timedelta(hours=6)
    given = 0

    def do_GET(self) -> None:
        assert self.headers["Authorization"] == "token of the container"
        _Roles.given += 1
        body = json.dumps(
            {
                "AccessKeyId": f"AKID{_Roles.given}",
                "SecretAccessKey": "secret",
                "Token": "session",
                "Expiration": (datetime.now(UTC) + _Roles.expires_in).isoformat(),
            }
        )
        self.write(200, body.encode())


@pytest.fixture
def roles(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Run a container's endpoint for credentials; return the variables that name it."""
    token = tmp_path / "token"
    token.write_text("token of the container")
    _Roles.given = 0
    with serving(_Roles) as url:
        yield {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{url}/role",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token),
        }


@pytest.mark.parametrize(
    ("expires_in", "keys"),
    [(timedelta(hours=6), ["AKID1", "AKID1"]), (timedelta(minutes=5), ["AKID2", "AKID3"])],
    ids=["for hours", "nearly over"],
)
def test_a_container_role_is_refreshed(
    roles: dict[str, str], expires_in: timedelta, keys: list[str]
) -> None:
    """A container's calls have its role's keys, which are read again before they expire."""
    with mock.patch.object(_Roles, "expires_in", expires_in):
        assert _signers(roles) == [(key, "session") for key in keys]


@for_each(
    ("variables", "expected"),
    [
        (_KEY, [("AKIDEXAMPLE", None)] * 2),
        (_KEY | {"AWS_SESSION_TOKEN": "lambda"}, [("AKIDEXAMPLE", "lambda")] * 2),
        (_KEY | {"AWS_SECURITY_TOKEN": "older"}, [("AKIDEXAMPLE", "older")] * 2),
        ({"AWS_EC2_METADATA_DISABLED": "true"}, ["NoCredentialsError"] * 2),
        ({"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}, ["PartialCredentialsError"] * 2),
    ],
)
def test_the_environment_names_the_caller(variables: dict[str, str], expected: list[Any]) -> None:
    """Keys in the environment sign, with Lambda's token; without keys a call fails as before."""
    assert _signers(variables) == expected


def _signers(variables: dict[str, str]) -> list[Any]:
    """Return key and token of two calls, or their errors."""
    server = Server()
    signers: list[Any] = []
    try:
        with environment(variables | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}"}):
            use_direct_client(on=True)
            client = make_client("dynamodb")
            assert isinstance(client, DirectClient)
            for _ in range(2):
                try:
                    client.get_item(**GET[1])
                except BotoCoreError as error:
                    signers.append(type(error).__name__)
    finally:
        server.close()
    for request in server.requests:
        lines = dict(
            line.split(": ", 1) for line in request.decode().split("\r\n")[1:] if ": " in line
        )
        key = lines["authorization"].partition("Credential=")[2].partition("/")[0]
        signers.append((key, lines.get("x-amz-security-token")))
    return signers
