"""The local stack: the engine, the stand-ins, and the order in which they start and stop."""

import asyncio
import contextlib
import datetime as dt
import fcntl
import json
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, Final

import httpx
import psutil
from rich.console import Console

from admin.connection import point_sdk
from admin.programs import IN_CLONE
from admin.wiring import OperatorWiring
from local import banner, containers, front, processes, relay, template
from local.containers import ContainerGateway
from local.dashboard import Dashboard
from local.dashboard_build import DashboardBuild, building
from local.dns import Zone, answering_udp
from local.edge import INTEGRATION_TIMEOUT, Edge, FrontOrigin, SendOrigin, StageOrigin
from local.endpoint_secrets import EndpointSecrets
from local.engine import PARAMETERS, STACK_NAME, Engine
from local.environment import environment_file, write_authorities
from local.guard import App, JsonBodies, SignedRequests
from local.inbox.webhooks import SEEDED_RECEIVER
from local.keys import LocalKeys, keep_keys
from local.package import build_layer, package
from local.private import make_private, write_private
from local.receiver import receiving
from local.reference.app import ApiReference
from local.seed import OWNER, TEMPLATE_ID, seed, sign_in_link
from local.servers import HOST, answering_names, serving, serving_inbox
from local.ses.account import StoredAccount
from local.ses.app import ses_app
from local.ses.deployed import create_declared_set
from local.ses.published import published
from local.ses.receiving import Store
from local.ses.store import MailStore
from pillarbox.settings import Settings, read_stack

#: Long enough to see that a new domain has no records yet.
_PUBLISHING_TAKES: Final = dt.timedelta(seconds=12)


class StackInUse(Exception):
    """Another run uses the state directory, or a configured port is in use."""


@dataclass(frozen=True, slots=True)
class StackSettings:
    """Where the stack keeps its state and listens (port 0 is any free one); SES's rate; a key."""

    state: Path
    port: int
    inbox_port: int
    smtp_port: int
    host: str
    names: tuple[str, ...]
    ses_rate: int
    gateway: str
    containers: bool
    live_key: str = field(repr=False)

    @classmethod
    def read(cls, settings: Settings) -> "StackSettings":
        """Read the local stack's settings."""
        return cls(
            state=(template.ROOT / settings.state_dir).resolve(),
            port=settings.port,
            inbox_port=settings.inbox_port,
            smtp_port=settings.smtp_port,
            host=settings.host,
            names=settings.local_names,
            ses_rate=settings.local_ses_rate,
            gateway=settings.local_gateway,
            containers=settings.containers,
            live_key=settings.live_key,
        )

    @property
    def log(self) -> Path:
        """Where the engine and the functions write."""
        return self.state / "engine.log"


async def run(settings: StackSettings, console: Console, *, build_dashboard: bool = False) -> int:
    """Start everything, print the banner, and run until a signal or until the engine stops.

    Args:
        settings: the settings.
        console: says what happens.
        build_dashboard: whether to build the dashboard beside, if its sources are newer.

    Returns:
        0 after a signal, 1 when the engine stopped unexpectedly.
    """
    make_private(settings.state)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    with _locked(settings.state), contextlib.ExitStack() as cleanup:
        _clear(settings.state)
        cleanup.callback(_clear, settings.state)
        beside = building(settings.state / "dashboard.log") if build_dashboard else None
        async with beside or contextlib.nullcontext() as build:
            running = asyncio.create_task(_run(settings, console, build))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait((running, stopping), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                stopping.cancel()
                return await running
            console.print("\nStopping …")
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
            return 0


async def _run(settings: StackSettings, console: Console, build: DashboardBuild | None) -> int:
    """Start every part, and stop the started parts in reverse order at the end or on an error."""
    async with contextlib.AsyncExitStack() as parts:
        engine = await _start(parts, settings, console, build)
        status = await engine.wait()
        console.print(
            f"[bold red]The engine stopped unexpectedly (exit {status}).[/] {settings.log}"
        )
        return 1


async def _start(
    parts: contextlib.AsyncExitStack,
    settings: StackSettings,
    console: Console,
    build: DashboardBuild | None,
) -> Engine:
    """Start every part, and write down where they are; `parts` stops them."""
    keys = keep_keys(settings.state / "keys.json", settings.live_key)
    start = parts.enter_async_context
    sockets = _sockets(settings)
    urls = {name: _url(listener) for name, listener in sockets.items()}
    sockets["engine"].close()  # the engine binds this port itself

    mailbox = MailStore(account=StoredAccount(rate=settings.ses_rate, review="GRANTED"))
    mailbox.publishing_takes = _PUBLISHING_TAKES
    zone = partial(published, mailbox)
    endpoints = _endpoints(urls, await start(answering_names(zone)))
    engine = Engine(settings.state, _port(urls["engine"]), endpoints, settings.gateway)
    point_sdk(engine.aws_environment | endpoints)
    banner.show_start(console, build, is_first=not (settings.state / "build").exists())
    parts.push_async_callback(engine.stop)
    outputs = await _deploy(engine, settings.state / "build")
    environment = engine.aws_environment | read_stack(outputs, engine.parameters) | endpoints
    environment |= {Settings.api_url.variable: urls["edge"], Settings.stack.variable: STACK_NAME}
    wiring = OperatorWiring(Settings(environment))

    # Before the inbox answers: a page of an earlier run asks at once.
    mailbox.hint = banner.first_email(urls["edge"], keys.texts["live"])
    mailbox.dashboard = f"{urls['edge']}/app"
    create_declared_set(mailbox, template.load()["Resources"], outputs["ConfigurationSetName"])
    client = await start(
        httpx.AsyncClient(timeout=INTEGRATION_TIMEOUT, trust_env=False, limits=_UNLIMITED)
    )
    serving_front = await start(front.serving(settings.state, client, environment))
    ses = JsonBodies(ses_app(mailbox, _events_to(engine, outputs["EventsQueueUrl"])))
    await start(serving(SignedRequests(ses, engine.access_key_id), sockets["ses"]))
    table = outputs["CredentialsTableName"]
    secrets_of = EndpointSecrets(engine.client("dynamodb"), table, urls["inbox"])
    hint = banner.first_endpoint(urls["edge"], urls["inbox"], keys.texts["live"])
    await start(serving_inbox(mailbox, secrets_of, hint, sockets["inbox"], settings.names))
    certificate = await start(
        relay.serving(sockets["smtp"], settings.state, wiring, keys.certificate)
    )
    await start(receiving(sockets["mx"], mailbox.receipts, _objects_in(engine)))
    seeded = await _seed(wiring, mailbox, keys, secrets_of)
    front_origin = serving_front if settings.gateway == "api" else None
    rules = template.inlined(template.load())
    api = ApiReference(_edge(engine, outputs, rules, front_origin, client), keys.texts["live"])
    edge = Dashboard(api, rules, widget_origins=PARAMETERS["WidgetOrigins"], inbox=urls["inbox"])
    await start(serving(edge, sockets["edge"], settings.names))
    state = _state(urls, keys, environment, certificate) | seeded
    _write_environment(settings.state, state, keys.certificate.chain)
    if listener := sockets.get("containers"):
        app = SignedRequests(ContainerGateway(engine.url, ses, client), engine.access_key_id)
        state["containers"] = await start(
            _serving_containers(app, listener, settings.state, environment, zone)
        )
    _write_json(settings.state / "stack.json", state)
    parts.callback((settings.state / "stack.json").unlink)
    banner.show(console, state, settings.log, build)
    return engine


def _endpoints(urls: Mapping[str, str], name_server: str) -> dict[str, str]:
    """Return the variables of the stand-ins, which functions have too."""
    return {
        "AWS_ENDPOINT_URL_SES": urls["ses"],
        "AWS_ENDPOINT_URL_SESV2": urls["ses"],
        Settings.dns_servers.variable: name_server,
        Settings.local_webhooks.variable: "true",
        Settings.relay.variable: urls["smtp"].rpartition("/")[2],
    }


async def _deploy(engine: Engine, build: Path) -> dict[str, str]:
    """Package the service while the engine starts, and deploy it; return the outputs."""
    packaging = asyncio.to_thread(package, build)
    packaged, _ = await asyncio.gather(packaging, engine.start())
    return await asyncio.to_thread(engine.deploy, packaged)


def _events_to(engine: Engine, queue_url: str) -> Callable[[Any], Awaitable[None]]:
    """Return what puts events of SES into a queue."""
    sqs = engine.client("sqs")

    async def emit(record: Any) -> None:  # noqa: ANN401  JSON of SES
        await asyncio.to_thread(
            sqs.send_message, QueueUrl=queue_url, MessageBody=json.dumps(record)
        )

    return emit


def _objects_in(engine: Engine) -> Store:
    """Return what puts objects into buckets."""
    s3 = engine.client("s3")

    async def put(bucket: str, key: str, octets: bytes) -> None:
        await asyncio.to_thread(s3.put_object, Bucket=bucket, Key=key, Body=octets)

    return put


async def _seed(
    wiring: OperatorWiring, mailbox: MailStore, keys: LocalKeys, secrets_of: EndpointSecrets
) -> dict[str, Any]:
    """Create the accounts with what a first run shows; return what stack.json says of it."""
    receiver = secrets_of.url(SEEDED_RECEIVER)
    await asyncio.to_thread(seed, wiring, mailbox, keys, receiver)
    return {
        "preview_sender": wiring.settings.preview_sender,
        "dashboard_link": await asyncio.to_thread(sign_in_link, wiring, keys.accounts["live"]),
        "webhook": {"url": receiver, "secrets": await secrets_of(SEEDED_RECEIVER)},
    }


def _edge(
    engine: Engine,
    outputs: Mapping[str, str],
    rules: template.Template,
    front_origin: Callable[[], Awaitable[FrontOrigin]] | None,
    client: httpx.AsyncClient,
) -> App:
    """Return the API."""
    api = f"{engine.url}/restapis/{outputs['ApiId']}/api/_user_request_"
    stage = StageOrigin(api, engine.access_key_id)
    return Edge(rules, stage, front_origin, client, _send_origin(engine, outputs))


def _send_origin(engine: Engine, outputs: Mapping[str, str]) -> SendOrigin | None:
    """Return where the URL of send_email is in the engine, and the secret in its store."""
    if "SendUrl" not in outputs:
        return None
    identity = httpx.URL(outputs["SendUrl"]).host.partition(".")[0]
    secrets = engine.client("secretsmanager")
    (secret,) = secrets.list_secrets()["SecretList"]
    text = secrets.get_secret_value(SecretId=secret["ARN"])["SecretString"]
    return SendOrigin(f"{engine.url}/_aws/lambda-url/{identity}", text)


_UNLIMITED: Final = httpx.Limits(max_connections=None, max_keepalive_connections=64)


@contextlib.asynccontextmanager
async def _serving_containers(
    app: App, listener: socket.socket, state: Path, environment: Mapping[str, str], zone: Zone
) -> AsyncIterator[dict[str, str]]:
    """Serve the containers of `sam local`, and write a template for them; yield where it is."""
    host, port = listener.getsockname()
    async with serving(app, listener, (containers.HOST_NAME,)), answering_udp(host, port, zone):
        inside = containers.environment_of_containers(environment, port)
        architecture, layer = await asyncio.to_thread(build_layer, state)
        path = state / "template.json"
        _write_json(path, template.for_sam(inside, architecture, layer))
        yield {"url": inside["AWS_ENDPOINT_URL"], "template": str(path)}


def _running(state: Path) -> str:
    """Return what is known of the stack that has the state directory."""
    try:
        found = json.loads((state / "stack.json").read_text())
    except FileNotFoundError:  # it starts or stops
        return "A local stack is already running in this state directory."
    # The link that it printed may have been used.
    program = ".venv/bin/pillarbox" if IN_CLONE else "pillarbox"
    command = f"{program} --local dashboard link {OWNER}"
    return f"A local stack is already running: {found['base_url']}\nTo sign in: {command}"


@contextlib.contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Lock the state directory; the operating system frees the lock when the process ends."""
    with (state / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StackInUse(_running(state)) from None
        yield


def _clear(state: Path) -> None:
    """Remove the files and processes of one run: this one, or an earlier one that was killed."""
    for name in ("stack.json", "template.json", "env"):
        (state / name).unlink(missing_ok=True)
    for part in ("engine", "front"):
        processes.end_remembered(state / f"{part}.json")
    shutil.rmtree(state / "engine", ignore_errors=True)


def _sockets(settings: StackSettings) -> dict[str, socket.socket]:
    """Bind the port of each server."""
    sockets = {
        name: _bind(port, host)
        for name, port, host in (
            ("edge", settings.port, settings.host),
            ("inbox", settings.inbox_port, settings.host),
            ("ses", 0, HOST),
            ("smtp", settings.smtp_port, settings.host),
            ("mx", 0, HOST),
            ("engine", 0, HOST),
        )
    }
    if settings.containers:
        sockets["containers"] = _bind(0, containers.host_address())
    return sockets


def _bind(port: int, host: str) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise StackInUse(
            f"Port {port} is in use. Set {Settings.port.variable},"
            f" {Settings.inbox_port.variable} or {Settings.smtp_port.variable}"
            " to another port (0: any free port)."
        ) from error
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"http://{HOST if IPv4Address(host).is_unspecified else host}:{port}"


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _state(
    urls: Mapping[str, str], keys: LocalKeys, environment: Mapping[str, str], certificate: Path
) -> dict[str, Any]:
    """Return what stack.json says, with what tells a reader whether the stack still runs."""
    started = dt.datetime.fromtimestamp(psutil.Process().create_time(), dt.UTC)
    return {
        "pid": os.getpid(),
        "started_at": started.isoformat(),
        "base_url": urls["edge"],
        "inbox_url": urls["inbox"],
        "smtp": {"host": HOST, "port": _port(urls["smtp"]), "certificate": str(certificate)},
        "mx": {"host": HOST, "port": _port(urls["mx"])},
        "keys": keys.texts,
        "accounts": keys.accounts,
        "template_id": TEMPLATE_ID,
        "environment": environment,
    }


def _write_environment(folder: Path, state: dict[str, Any], certificate: bytes) -> None:
    authorities = folder / "authorities.pem"
    write_authorities(authorities, certificate)
    write_private(folder / "env", environment_file(state, authorities))


def _write_json(path: Path, content: object) -> None:
    write_private(path, json.dumps(content, indent=2) + "\n")
