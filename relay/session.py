"""The SMTP session of one client: which commands are allowed when, and the replies to them.

A session reads and writes no sockets. A connection passes lines and messages to it and sends
the replies that it returns.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pillarbox.domain.accounts.key_policy import Principal
from pillarbox.domain.errors import ServiceError
from pillarbox.domain.messages.mail import MAX_RECIPIENTS
from relay import framing, replies, sasl
from relay.admission import Admission, ConnectionLimiter
from relay.commands import CommandRejected, check_host, parse_command, parse_mail, parse_rcpt
from relay.framing import ContentBuffer
from relay.limits import ServerLimits
from relay.logins import LoginLimiter
from relay.memory import MemoryBudget
from relay.replies import AfterReply, Reply
from relay.service import SubmissionService

#: A reply, or a coroutine that returns one after a call of the service.
type PendingReply = Reply | Coroutine[Any, Any, Reply]


@dataclass(slots=True, kw_only=True)
class ServerContext:
    """The objects that all sessions of a server share."""

    name: str
    limits: ServerLimits
    service: SubmissionService
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    budget: MemoryBudget = field(init=False)
    connections: ConnectionLimiter = field(init=False)
    logins: LoginLimiter = field(init=False)

    def __post_init__(self) -> None:
        """Create what counts for all sessions."""
        limits = self.limits
        self.budget = MemoryBudget(limits, self.clock)
        self.connections = ConnectionLimiter(limits, self.clock)
        self.logins = LoginLimiter(limits, self.service.authenticate, self.sleep)


@dataclass(slots=True)
class _Transaction:
    """A mail transaction (RFC 5321 section 3.3): from MAIL to the end of the message."""

    recipients: list[str] = field(default_factory=list)
    #: Why each RCPT was refused. Many programs go on without that recipient and do not report it.
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Login:
    """The key, which is read again for each message, and the principal from its last read."""

    key_text: str = field(repr=False)
    principal: Principal
    #: Whether each recipient is refused for itself, and the others get the message.
    each_recipient: bool = False


class SmtpSession:
    """One client's session (RFC 5321 section 3, RFC 6409)."""

    def __init__(self, context: ServerContext, client: Admission) -> None:
        self._context = context
        self._client = client
        self._greeted = self._secure = False
        self._login: _Login | None = None
        self._exchange: sasl.Exchange | None = None
        self._transaction: _Transaction | None = None
        self._failed_logins = self._errors = self._idle_commands = 0
        #: The message that is arriving, between DATA and its end.
        self.content: ContentBuffer | None = None

    @property
    def authenticated(self) -> bool:
        return self._login is not None

    @property
    def longest_line(self) -> int:
        """The octets that the next line may have, including CR LF."""
        return framing.MAX_COMMAND if self._exchange is None else framing.MAX_SASL_LINE

    def greet(self) -> Reply:
        return replies.greeting(self._context.name)

    def tls_established(self) -> None:
        """Switch to TLS: forget what the client sent before it (RFC 3207 section 4.2)."""
        self._secure = True
        self._greeted = False
        self._transaction = None

    def command(self, line: bytes) -> PendingReply:
        """Return the reply to a line: a command, or a response within AUTH."""
        try:
            if self._exchange is not None:
                reply = self._respond(self._exchange, line)
            else:
                reply = self._execute(line)
        except CommandRejected as rejection:
            reply = rejection.reply
        return self._check_counts(reply) if isinstance(reply, Reply) else reply

    def line_too_long(self) -> Reply:
        self._exchange = None
        return self._check_counts(replies.LINE_TOO_LONG)

    def content_ended(self, content: ContentBuffer) -> PendingReply:
        self.content = None
        transaction, self._transaction = self._transaction, None
        if transaction is None or self._login is None:
            raise RuntimeError("content without a transaction")
        if content.too_large:
            return self._check_counts(replies.TOO_LARGE)
        if content.out_of_memory:
            return replies.OUT_OF_MEMORY
        try:
            octets = content.finish()
        except framing.LineTooLong:
            return self._check_counts(replies.CONTENT_LINE_TOO_LONG)
        recipients = tuple(transaction.recipients)
        return self._submit(self._login.key_text, recipients, octets)

    # --- commands -------------------------------------------------------------------------------

    def _execute(self, line: bytes) -> PendingReply:
        command = parse_command(line)
        handler = self._COMMANDS.get(command.verb) if command else None
        if command is None or handler is None:
            return replies.UNKNOWN_COMMAND
        return handler(self, command.argument)

    def _ehlo(self, argument: bytes | None) -> Reply:
        check_host(argument)
        self._greeted = True
        self._transaction = None
        self._idle_commands += 1
        extensions = ["PIPELINING", f"SIZE {self._context.limits.message_size}", "8BITMIME"]
        extensions.append("ENHANCEDSTATUSCODES")
        if not self._secure:
            extensions.append("STARTTLS")
        elif self._login is None:
            extensions.append(f"AUTH {b' '.join(sasl.MECHANISMS).decode()}")
        return replies.hello(self._context.name, tuple(extensions))

    def _helo(self, argument: bytes | None) -> Reply:
        check_host(argument)
        self._greeted = True
        self._transaction = None
        self._idle_commands += 1
        return replies.hello(self._context.name)

    def _starttls(self, argument: bytes | None) -> Reply:
        if self._secure:
            return replies.BAD_SEQUENCE
        if argument is not None:
            return replies.BAD_ARGUMENTS
        return replies.READY_FOR_TLS

    def _auth(self, argument: bytes | None) -> PendingReply:
        if not self._secure:
            return replies.TLS_REQUIRED
        if self._login is not None or not self._greeted:
            return replies.BAD_SEQUENCE
        mechanism, *initial = (argument or b"").split(b" ")
        if not mechanism or len(initial) > 1:
            return replies.BAD_ARGUMENTS
        start_exchange = sasl.MECHANISMS.get(mechanism.upper())
        if start_exchange is None:
            return replies.UNKNOWN_MECHANISM
        response = initial[0] if initial else None
        # RFC 4954 section 4: an empty initial response is written as "=".
        return self._respond(start_exchange(b"" if response == b"=" else response), None)

    def _respond(self, exchange: sasl.Exchange, response: bytes | None) -> PendingReply:
        """Continue an AUTH exchange: return the next challenge or the outcome."""
        self._exchange = None
        response = response and response.rstrip(b" \t")
        try:
            challenge = next(exchange) if response is None else exchange.send(response)
        except StopIteration as end:
            return self._authenticate(end.value)
        except sasl.BadResponse:
            return replies.BAD_BASE64
        except sasl.ExchangeCancelled:
            return replies.AUTH_CANCELLED
        self._exchange = exchange
        return replies.challenge(challenge)

    async def _authenticate(self, credentials: sasl.Credentials) -> Reply:
        try:
            if credentials.user not in sasl.USERS:
                return self._failed_login()
            key = credentials.password
            principal = await self._context.logins.authenticate(self._client, key)
        except ServiceError as error:
            if error.code in replies.KEY_ERRORS:
                return self._failed_login()
            if error.code == "account_suspended":
                return self._check_counts(replies.ACCOUNT_SUSPENDED)
            return replies.AUTH_UNAVAILABLE
        if not self._context.connections.log_in(self._client, principal.account.account_id):
            return replies.TOO_MANY_OF_ACCOUNT
        self._login = _Login(key, principal, sasl.USERS[credentials.user])
        self._idle_commands = 0
        return replies.AUTHENTICATED

    def _failed_login(self) -> Reply:
        self._failed_logins += 1
        if self._failed_logins >= self._context.limits.failed_logins:
            return replies.TOO_MANY_FAILURES
        return replies.AUTH_FAILED

    def _mail(self, argument: bytes | None) -> PendingReply:
        login = self._require_login()
        if not self._greeted or self._transaction is not None:
            return replies.BAD_SEQUENCE
        mail = parse_mail(argument)
        if mail.size > self._context.limits.message_size:
            return replies.TOO_LARGE
        account_id, host = login.principal.account.account_id, self._client.host
        if not self._context.budget.has_room(account_id, host, 2 * mail.size):
            self._idle_commands += 1
            return replies.OUT_OF_MEMORY
        self._idle_commands += 1
        if mail.sender is None:  # a delivery report; the message's From is checked in any case
            self._transaction = _Transaction()
            return replies.SENDER_OK
        try:
            return self._begin_transaction(login, mail.sender)
        except ServiceError:
            return self._retry_mail(login, mail.sender)

    async def _retry_mail(self, login: _Login, sender: str) -> Reply:
        """Read the account again before refusing a sender, which may be verified since AUTH."""
        try:
            principal = await self._context.service.authenticate(
                login.key_text, self._client.origin
            )
            self._login = replace(login, principal=principal)
            return self._begin_transaction(self._login, sender)
        except ServiceError as error:
            return self._check_counts(replies.refusal(error))

    def _begin_transaction(self, login: _Login, sender: str) -> Reply:
        login.principal.account.check_sends_from(sender)
        self._transaction = _Transaction()
        return replies.SENDER_OK

    def _rcpt(self, argument: bytes | None) -> PendingReply:
        login, transaction = self._require_login(), self._transaction
        if transaction is None:
            return replies.BAD_SEQUENCE
        try:
            recipient = parse_rcpt(argument)
        except CommandRejected as rejection:
            if not login.each_recipient:
                transaction.refused += rejection.reply.lines
            raise
        if len(transaction.recipients) >= MAX_RECIPIENTS:
            self._idle_commands += 1
            return replies.TOO_MANY_RECIPIENTS
        if login.each_recipient:
            return self._check_recipient(login, transaction, recipient)
        transaction.recipients.append(recipient)
        return replies.RECIPIENT_OK

    async def _check_recipient(
        self, login: _Login, transaction: _Transaction, recipient: str
    ) -> Reply:
        self._idle_commands += 1
        try:
            await self._context.service.check_recipient(
                login.key_text, recipient, self._client.origin
            )
        except ServiceError as error:
            return self._check_counts(replies.refusal(error))
        transaction.recipients.append(recipient)
        return replies.RECIPIENT_OK

    def _data(self, argument: bytes | None) -> Reply:
        login = self._require_login()
        if argument is not None:
            return replies.BAD_ARGUMENTS
        if self._transaction is None or not self._transaction.recipients:
            return replies.BAD_SEQUENCE
        if refused := self._transaction.refused:
            self._transaction = None  # smtplib sends its next MAIL without a RSET
            return replies.lacks_recipients(refused)
        memory = self._context.budget.begin(
            login.principal.account.account_id,
            self._client.host,
            lambda: self._client.disconnect(replies.SLOWEST_MESSAGE),
        )
        self.content = ContentBuffer(self._context.limits.message_size, memory)
        return replies.START_CONTENT

    async def _submit(self, key_text: str, recipients: tuple[str, ...], octets: bytearray) -> Reply:
        try:
            message_id = await self._context.service.submit(
                key_text, recipients, octets, self._client.origin
            )
        except ServiceError as error:
            return self._check_counts(replies.refusal(error))
        self._errors = self._idle_commands = 0
        return replies.queued(message_id)

    def _rset(self, argument: bytes | None) -> Reply:
        if argument is not None:
            return replies.BAD_ARGUMENTS
        self._transaction = None
        return self._noop(argument)

    def _noop(self, _: bytes | None) -> Reply:
        self._idle_commands += 1
        return replies.OK

    def _vrfy(self, argument: bytes | None) -> Reply:
        self._idle_commands += 1
        return replies.NOT_VERIFIED if argument else replies.BAD_ARGUMENTS

    def _expn(self, _: bytes | None) -> Reply:
        return replies.NOT_IMPLEMENTED

    def _help(self, _: bytes | None) -> Reply:
        self._idle_commands += 1
        return replies.HELP

    def _quit(self, argument: bytes | None) -> Reply:
        return replies.BYE if argument is None else replies.BAD_ARGUMENTS

    _COMMANDS: ClassVar[Mapping[bytes, Callable[["SmtpSession", bytes | None], PendingReply]]] = {
        b"EHLO": _ehlo,
        b"HELO": _helo,
        b"STARTTLS": _starttls,
        b"AUTH": _auth,
        b"MAIL": _mail,
        b"RCPT": _rcpt,
        b"DATA": _data,
        b"RSET": _rset,
        b"NOOP": _noop,
        b"VRFY": _vrfy,
        b"EXPN": _expn,
        b"HELP": _help,
        b"QUIT": _quit,
    }

    # --- checks ---------------------------------------------------------------------------------

    def _require_login(self) -> _Login:
        if not self._secure:
            raise CommandRejected(replies.TLS_REQUIRED)
        if self._login is None:
            raise CommandRejected(replies.AUTH_REQUIRED)
        return self._login

    def _check_counts(self, reply: Reply) -> Reply:
        """Return the reply, or 421 after too many errors or commands that led to no message."""
        if reply.is_permanent_failure:
            self._errors += 1
        if reply.then is AfterReply.CLOSE:
            return reply
        limits = self._context.limits
        if self._errors > limits.errors or self._idle_commands > limits.idle_commands:
            return replies.TOO_MANY_COMMANDS
        return reply
