"""Every setting, in one table.

Importing this module reads nothing. `Settings(os.environ)` reads a setting when a program asks
for it, such as `settings.table`. `Settings({})` has the defaults.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Final, Literal, Self, overload

#: The start of every variable of ours.
PREFIX: Final = "PILLARBOX_"

#: Who sets a variable: the template for its functions, the container `relay` or the container
#: `front`; the local stack; the operator's command, for itself; or the user who starts a program.
type Place = Literal["functions", "relay", "front", "local", "command", "user"]
#: Who sets what acceptance reads.
_SENDING: Final[tuple[Place, ...]] = ("functions", "relay", "front", "local")
#: Who sets what the workers read, and the command that looks after their queues.
_QUEUES: Final[tuple[Place, ...]] = ("functions", "command", "local")
#: Who sets what the functions and the command read.
_SERVICE: Final[tuple[Place, ...]] = ("functions", "command")
_USER: Final[tuple[Place, ...]] = ("user",)


class SettingError(RuntimeError):
    """A setting is missing or invalid; the text names its variable."""


@dataclass(eq=False)
class Setting[T]:
    """A row of the table. As an attribute of `Settings` it reads its variable."""

    #: The type: turns the variable's text into a value. Its ValueError says what the text must be.
    parse: Callable[[str], T]
    #: In one line.
    meaning: str
    #: Who sets the variable.
    set_by: tuple[Place, ...]
    _: KW_ONLY
    #: As text. A setting without a default is required.
    default: str | None = None
    #: The stack's output that has the value, for programs outside AWS.
    output: str = ""
    #: The stack's parameter that has it.
    parameter: str = ""
    #: If it is not the attribute's name in capitals after the prefix.
    variable: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.variable = self.variable or PREFIX + name.upper()

    @overload
    def __get__(self, settings: None, owner: type) -> Self: ...
    @overload
    def __get__(self, settings: "Settings", owner: type) -> T: ...
    def __get__(self, settings: "Settings | None", owner: type) -> Self | T:
        """Return the value, or this row if the class is asked."""
        if settings is None:
            return self
        text = settings.variables.get(self.variable, "").strip() or self.default
        if text is None:
            raise SettingError(f"{self.variable} is not set")
        try:
            return self.parse(text)
        except ValueError as error:
            raise SettingError(f"{self.variable} must be {error}, not {text!r}") from None


def number(least: int = 0) -> Callable[[str], int]:
    """Return a parser of whole numbers."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise ValueError(f"a number from {least} on")
        return int(text)

    return parse


def port_number(text: str) -> int:
    """Parse a TCP port; 0 is any free one."""
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 16):
        raise ValueError("a port from 0 to 65535")
    return int(text)


def flag(text: str) -> bool:
    """Parse `true` or `1`, or `false` or `0`."""
    if text not in {"true", "1", "false", "0"}:
        raise ValueError("true or false")
    return text in {"true", "1"}


def switch(text: str) -> bool:
    """Parse `on` or `off`."""
    if text not in {"on", "off"}:
        raise ValueError("on or off")
    return text == "on"


def one_of(*choices: str) -> Callable[[str], str]:
    """Return a parser of one of several words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return parse


def server(text: str) -> tuple[str, int] | None:
    """Parse `host:port`; an empty text is None."""
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit()):
        raise ValueError("host:port")
    return host, int(port)


def names(text: str) -> tuple[str, ...]:
    """Parse a list of host names."""
    return tuple(_entries(text.lower()))


def origins(text: str) -> tuple[str, ...]:
    """Parse a list of origins of pages, such as `https://shop.example`."""
    entries = tuple(_entries(text))
    for entry in entries:
        scheme, separator, host = entry.partition("://")
        if scheme not in {"http", "https"} or not (separator and host) or "/" in host:
            raise ValueError("origins such as https://shop.example")
    return entries


def servers(text: str) -> tuple[str, ...]:
    """Parse a list of `host:port`."""
    entries = tuple(_entries(text))
    for entry in entries:
        server(entry)
    return entries


def networks(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Parse a list such as `10.0.0.0/16,10.1.0.0/16`."""
    from ipaddress import ip_network  # noqa: PLC0415  no function reads networks

    try:
        return tuple(ip_network(entry) for entry in _entries(text))
    except ValueError as error:
        raise ValueError(f"networks ({error})") from None


def _entries(text: str) -> list[str]:
    """Split a list at commas and spaces."""
    return text.replace(",", " ").split()


class Settings:
    """The table, and the settings that a program finds in its variables."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Store the variables; nothing is read yet."""
        self.variables = variables

    def check(self, place: Place) -> None:
        """Read every setting that a place sets, so that a program can stop at its start.

        The error has a line for each that is missing or invalid.
        """
        wrong: list[str] = []
        for row in all_settings():
            if place in row.set_by:
                try:
                    row.__get__(self, Settings)
                except SettingError as error:
                    wrong.append(str(error))
        if wrong:
            raise SettingError("\n".join(wrong))

    # The service: functions, relay, front and the operator's command.

    table = Setting(str, "the DynamoDB table", _SENDING, output="TableName")
    credentials_table = Setting(
        str,
        "the DynamoDB table of API keys, secrets, users and sessions",
        _SENDING,
        output="CredentialsTableName",
    )
    jobs_queue_url = Setting(str, "the queue of jobs", _SENDING, output="JobsQueueUrl")
    urgent_jobs_queue_url = Setting(
        str, "the queue of jobs that expire within an hour", _SENDING, output="UrgentJobsQueueUrl"
    )
    jobs_dead_letters_url = Setting(
        str, "the queue of poison jobs", ("functions", "local"), output="JobsDeadLettersUrl"
    )
    events_queue_url = Setting(
        str, "the queue of provider events", _QUEUES, output="EventsQueueUrl"
    )
    events_dead_letters_url = Setting(
        str,
        "the queue of provider events that failed too often",
        ("functions", "local"),
        output="EventsDeadLettersUrl",
    )
    sweep_queue_url = Setting(str, "the queue of sweep tasks", _QUEUES, output="SweepQueueUrl")
    webhooks_queue_url = Setting(
        str, "the queue of events for webhook endpoints", _QUEUES, output="WebhooksQueueUrl"
    )
    received_queue_url = Setting(
        str, "the queue of received mail", _SERVICE, output="ReceivedQueueUrl"
    )
    received_mapping = Setting(
        str,
        "Lambda's id of what reads the queue of received mail",
        _SERVICE,
        output="ReceivedMapping",
    )
    webhooks = Setting(
        switch,
        "whether accounts can have webhook endpoints",
        _SERVICE,
        default="on",
        parameter="Webhooks",
    )
    aws_webhooks_account = Setting(
        str,
        "the AWS account of the service, if events may go to buses and buckets of tenants",
        ("functions",),
        default="",
    )
    mail_code_function = Setting(
        str,
        "the function that sends one-time codes, with its alias",
        ("functions", "local"),
        output="MailCodeFunction",
    )
    spool_bucket = Setting(str, "the bucket of the spool", _SENDING, output="SpoolBucketName")
    configuration_set = Setting(
        str, "the SES configuration set", ("functions", "local"), output="ConfigurationSetName"
    )
    emails_per_second = Setting(
        number(least=1), "what the stack is for", ("command",), parameter="EmailsPerSecond"
    )
    ses_rate_share = Setting(
        number(least=1),
        "the percentage of the account's sending rate at SES that the stack uses",
        _SERVICE,
        default="100",
        parameter="SesRateShare",
    )
    preview_sender = Setting(
        str,
        "the sender of preview keys and of accounts without one",
        _SENDING,
        output="PreviewSender",
    )
    upgrade_url = Setting(
        str, "the page about paid plans, for `upgrade_required`", _SENDING, output="UpgradeUrl"
    )
    sign_up = Setting(
        one_of("closed", "invited", "approved", "open"),
        "who may create an account in the dashboard",
        _SERVICE,
        default="closed",
        parameter="SignUp",
    )
    sign_up_domains = Setting(
        names,
        "the domains of the addresses that may sign up; any if empty",
        _SERVICE,
        default="",
        parameter="SignUpDomains",
    )
    operator_passkeys = Setting(
        one_of("optional", "required"),
        "whether operators have to sign in with a passkey",
        _SERVICE,
        default="optional",
        parameter="OperatorPasskeys",
    )
    widget_origins = Setting(
        origins,
        "the sites that may show the preview widget; none if empty, and then there is no widget",
        _SERVICE,
        default="",
        parameter="WidgetOrigins",
    )
    aws_client = Setting(
        one_of("direct", "botocore"),
        "which client calls DynamoDB, Lambda and SQS: Pillarbox's own or the SDK's",
        ("functions", "relay", "front"),
        default="direct",
    )
    provisioning_key = Setting(str, "the secret with the management key for stacks", ("functions",))
    strangers = Setting(
        switch,
        "whether strangers may have accounts: the breaker acts, and they begin in a shared tenant",
        _SERVICE,
        default="off",
        output="Strangers",
    )
    dns_servers = Setting(
        servers, "name servers as host:port; the system's if empty", ("local",), default=""
    )
    local_webhooks = Setting(
        flag,
        "whether webhooks may go to http://127.0.0.1:PORT, where Lambda's runtime listens in AWS",
        ("local",),
        default="false",
    )

    # The servers: relay, front and the local stack. Port 0 is any free one.

    host = Setting(str, "the address that servers listen on", _USER, default="127.0.0.1")
    port = Setting(port_number, "the port of the front, or of the local API", _USER, default="8080")
    smtp_port = Setting(port_number, "the relay's port", _USER, default="5870")
    processes = Setting(
        number(least=1), "processes of the relay, or of handlers of the front", _USER, default="1"
    )

    # The SMTP relay.

    smtp_name = Setting(str, "the name by which the relay introduces itself", ("relay",))
    smtp_certificate = Setting(
        str,
        "the PEM file of the chain and the private key; if empty, the stack's secret has them",
        _USER,
        default="",
    )
    smtp_proxies = Setting(
        networks,
        "networks whose connections begin with PROXY protocol v2, such as 10.0.0.0/16,10.1.0.0/16",
        ("relay",),
        default="",
    )
    smtp_paid_plans_only = Setting(
        flag, "whether the relay refuses free plans", ("relay",), default="false"
    )

    # The front, for large HTTP requests.

    edge_secret = Setting(
        str,
        "what the edge sends in X-Pillarbox-Edge; two values with a blank between while it changes",
        ("front", "local"),
    )
    edge_secret_id = Setting(
        str,
        "the edge's secret in Secrets Manager; without one X-Pillarbox-Client means nothing",
        ("functions",),
        default="",
    )

    # The operator's command.

    stack = Setting(str, "the name of the stack", ("functions", "relay", "command", "local"))
    api_url = Setting(
        str,
        "the address of API and dashboard, without /api/v1",
        ("command", "local"),
        output="ApiUrl",
    )
    relay = Setting(server, "the relay as host:port, if there is one", _QUEUES, default="")

    # The local stack.

    state_dir = Setting(str, "its folder, absolute or below the project's", _USER, default=".local")
    inbox_port = Setting(port_number, "the inbox's port", _USER, default="8025")
    local_ses_rate = Setting(
        number(least=1),
        "the recipients a second that the SES stand-in allows",
        _USER,
        default="14",
        variable="PILLARBOX_SES_RATE",
    )
    local_gateway = Setting(
        one_of("api", "url"),
        "what takes sends: API Gateway beside a front, or a URL as with EdgeService=url",
        _USER,
        default="api",
        variable="PILLARBOX_GATEWAY",
    )
    local_names = Setting(
        names,
        "more names by which API and inbox may be called",
        _USER,
        default="",
        variable="PILLARBOX_HOST_NAMES",
    )
    live_key = Setting(str, "the live key to use in place of the kept one", _USER, default="")
    management_key = Setting(
        str, "the key with which `pillarbox apply` manages accounts", _USER, default=""
    )
    containers = Setting(
        flag, "whether the containers of `sam local` can reach it", _USER, default="false"
    )


def all_settings() -> "Iterator[Setting[object]]":
    """Return the rows of the table."""
    return (row for row in vars(Settings).values() if isinstance(row, Setting))


def read_stack(outputs: Mapping[str, str], parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose texts are among a stack's outputs and parameters."""
    return {
        row.variable: text
        for row in all_settings()
        for text in (outputs.get(row.output) or parameters.get(row.parameter),)
        if text
    }
