"""The part of the SES v2 API (REST-JSON) that Pillarbox and its operator's command use.

It checks no credentials. It listens on loopback only, and it checks the Host header so that no web
page can reach it under a name of its own (DNS rebinding).
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Final, Literal, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import read_object, text_of
from local.ses.errors import SesError, bad_request, not_found
from local.ses.events import Emit, EventEmitter, records
from local.ses.sending import SesSendEmailRequest, accept, parse, refused
from local.ses.store import MailStore, Mode, StoredConfigurationSet, SuppressedDestination
from local.ses.tenant_routes import tenant_routes
from pillarbox.domain.errors import Json

#: The error that each refusing behaviour returns.
_REFUSALS: Final[dict[Mode, tuple[str, str]]] = {
    "throttle": ("TooManyRequestsException", "Maximum sending rate exceeded."),
    "quota": ("LimitExceededException", "Daily message quota exceeded."),
    "reject": ("MessageRejected", "The message contains content that cannot be sent."),
    "mail-from": (
        "MailFromDomainNotVerifiedException",
        "The custom MAIL FROM domain is not verified.",
    ),
    "pause": ("SendingPausedException", "Email sending is paused for the account."),
    "suspend": ("AccountSuspendedException", "The account may not send email."),
    "server-error": ("InternalFailure", "The service met an error."),
}
_MAX_WAIT: Final = 300.0  # seconds
#: The pricing plans. SES may begin a cheaper one with the next month; here each begins at once.
_PLANS: Final = ("NONE", "ESSENTIALS", "PRO", "ENTERPRISE")
#: What GetAccount reports, in recipients. Only a behaviour enforces this limit.
_MAX_24_HOUR_SEND: Final = 50_000.0


def ses_app(mailbox: MailStore, emit: Emit) -> Starlette:
    """Return the API as an application.

    Args:
        mailbox: the state. Close it before the server stops, because that ends delayed
            responses.
        emit: publishes an event record in place of the configuration set's event destination.
            It is called in the background and retried if it fails.
    """
    api = _Api(mailbox, EventEmitter(emit))
    return Starlette(
        routes=[
            Route("/v2/email/outbound-emails", api.send_email, methods=["POST"]),
            Route("/v2/email/account", api.get_account),
            Route("/v2/email/account/pricing-attributes", api.put_plan, methods=["PUT"]),
            Route("/v2/email/identities", api.create_identity, methods=["POST"]),
            Route("/v2/email/list-identities", api.list_identities, methods=["POST"]),
            Route("/v2/email/identities/{identity}/mail-from", api.put_mail_from, methods=["PUT"]),
            Route("/v2/email/identities/{identity:path}", api.get_identity),
            Route("/v2/email/identities/{identity:path}", api.delete_identity, methods=["DELETE"]),
            Route("/v2/email/configuration-sets", api.create_configuration_set, methods=["POST"]),
            Route("/v2/email/configuration-sets/{name}", api.get_configuration_set),
            Route(
                "/v2/email/configuration-sets/{name}/event-destinations",
                api.create_event_destination,
                methods=["POST"],
            ),
            Route(
                "/v2/email/configuration-sets/{name}/event-destinations",
                api.get_event_destinations,
            ),
            *tenant_routes(mailbox),
            Route("/v2/email/suppression/addresses", api.put_suppressed, methods=["PUT"]),
            Route("/v2/email/suppression/addresses", api.list_suppressed),
            Route("/v2/email/suppression/addresses/{address:path}", api.get_suppressed),
            Route(
                "/v2/email/suppression/addresses/{address:path}",
                api.delete_suppressed,
                methods=["DELETE"],
            ),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={SesError: _ses_error, HTTPException: _unknown_operation},
        lifespan=api.lifespan,
    )


async def _ses_error(_request: Request, error: Exception) -> Response:
    return cast("SesError", error).response()


async def _unknown_operation(request: Request, _error: Exception) -> Response:
    operation = f"{request.method} {request.url.path}"
    return SesError(
        "UnknownOperationException", f"This SES stand-in does not support {operation}."
    ).response()


class _Api:
    """One method per operation of the API."""

    def __init__(self, mailbox: MailStore, emitter: EventEmitter) -> None:
        self._mailbox = mailbox
        self._emitter = emitter
        mailbox.tenants.tell = lambda event: emitter.start([event])

    @asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        yield
        await self._emitter.finish()

    async def send_email(self, request: Request) -> Response:
        """Accept an email as SES does, or behave as the mailbox says."""
        message = parse(await request.body())
        try:
            return await self._accept(message, request)
        except SesError as error:
            if error.is_final and (mail := refused(message, error.message)):
                self._mailbox.add(mail)
            raise

    async def _accept(self, message: SesSendEmailRequest, request: Request) -> Response:
        mail = accept(self._mailbox, message)
        behaviour = self._mailbox.pop_behaviour(mail.destination.addresses)
        if refusal := _REFUSALS.get(behaviour.mode):
            await self._pause(behaviour.delay_seconds or 0)
            raise SesError(*refusal)
        if not self._mailbox.rate_limit.allow(len(mail.destination.addresses), time.monotonic()):
            raise SesError(*_REFUSALS["throttle"])
        self._mailbox.add(mail)
        if behaviour.events:
            self._emitter.start(records(mail, self._mailbox))
        if behaviour.mode == "take-then-timeout" and behaviour.delay_seconds is None:
            await self._until_disconnected(request)
        else:
            await self._pause(behaviour.delay_seconds or 0)
        if behaviour.mode == "take-then-error":
            raise SesError(*_REFUSALS["server-error"])
        return JSONResponse({"MessageId": mail.id})

    async def _pause(self, seconds: float) -> None:
        """Wait that long, or until the mailbox closes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._mailbox.closing.wait(), seconds)

    async def _until_disconnected(self, request: Request) -> None:
        """Wait until the client disconnects: `receive` returns nothing else after the body."""
        waiting = {
            asyncio.ensure_future(request.receive()),
            asyncio.ensure_future(self._pause(_MAX_WAIT)),
        }
        _, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()

    async def get_account(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "ProductionAccessEnabled": True,
                "SendingEnabled": True,
                "EnforcementStatus": "HEALTHY",
                "DedicatedIpAutoWarmupEnabled": False,
                "SendQuota": {
                    "Max24HourSend": _MAX_24_HOUR_SEND,
                    "MaxSendRate": self._mailbox.rate_limit.rate,
                    "SentLast24Hours": float(self._mailbox.sent_last_24_hours()),
                },
                "SuppressionAttributes": {"SuppressedReasons": []},
                "PricingAttributes": {"CurrentPlan": self._mailbox.plan},
            }
        )

    async def put_plan(self, request: Request) -> Response:
        plan = text_of(await read_object(request), "Plan")
        if plan not in _PLANS:
            raise bad_request(f"Plan must be one of {', '.join(_PLANS)}.")
        self._mailbox.plan = plan
        return JSONResponse({})

    async def create_identity(self, request: Request) -> Response:
        identity = text_of(await read_object(request), "EmailIdentity")
        if self._mailbox.identity_verified(identity) is not None:
            message = f"Email identity {identity} already exist."
            raise SesError("AlreadyExistsException", message)
        verified = self._mailbox.create_identity(identity)
        return JSONResponse(_identity(identity, verified=verified))

    async def get_identity(self, request: Request) -> Response:
        identity: str = request.path_params["identity"]
        status = self._mailbox.identity_status(identity)
        if status is None:
            raise not_found(f"Email identity {identity} does not exist.")
        verified = status == "SUCCESS"
        details: dict[str, Json] = {
            "FeedbackForwardingStatus": False,
            "VerificationStatus": status,
            "MailFromAttributes": self._mail_from(identity, verified=verified),
            "Policies": {},
            "Tags": [],
        }
        return JSONResponse(_identity(identity, verified=verified) | details)

    def _mail_from(self, identity: str, *, verified: bool) -> dict[str, Json]:
        behavior: dict[str, Json] = {"BehaviorOnMxFailure": "USE_DEFAULT_VALUE"}
        domain = self._mailbox.mail_from.get(identity)
        if domain is None:
            return behavior
        status = "SUCCESS" if verified else "PENDING"
        return behavior | {"MailFromDomain": domain, "MailFromDomainStatus": status}

    async def put_mail_from(self, request: Request) -> Response:
        identity: str = request.path_params["identity"]
        if self._mailbox.identity_verified(identity) is None:
            raise not_found(f"Email identity {identity} does not exist.")
        domain = text_of(await read_object(request), "MailFromDomain")
        if not domain.endswith(f".{identity}"):
            raise bad_request(f"The MAIL FROM domain must be a subdomain of {identity}.")
        self._mailbox.mail_from[identity] = domain
        return JSONResponse({})

    async def delete_identity(self, request: Request) -> Response:
        identity: str = request.path_params["identity"]
        if not self._mailbox.delete_identity(identity):
            raise not_found(f"Email identity {identity} does not exist.")
        return JSONResponse({})

    async def list_identities(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "EmailIdentities": [
                    {
                        "IdentityName": identity,
                        "IdentityType": _identity_type(identity),
                        "SendingEnabled": verified,
                        "VerificationStatus": "SUCCESS" if verified else "PENDING",
                    }
                    for identity, verified in self._mailbox.identities().items()
                ]
            }
        )

    async def create_configuration_set(self, request: Request) -> Response:
        name = text_of(await read_object(request), "ConfigurationSetName")
        if name in self._mailbox.configuration_sets:
            message = f"Configuration set <{name}> already exists."
            raise SesError("AlreadyExistsException", message)
        self._mailbox.create_configuration_set(name, publish=frozenset())
        return JSONResponse({})

    async def get_configuration_set(self, request: Request) -> Response:
        configuration_set = self._configuration_set(request)
        return JSONResponse(
            {
                "ConfigurationSetName": configuration_set.name,
                "SendingOptions": {"SendingEnabled": True},
                "Tags": [],
            }
        )

    async def create_event_destination(self, request: Request) -> Response:
        configuration_set = self._configuration_set(request)
        body = await read_object(request)
        name = text_of(body, "EventDestinationName")
        definition = body.get("EventDestination")
        if not isinstance(definition, dict):
            raise bad_request("EventDestination is missing.")
        if name in configuration_set.event_destinations:
            message = f"Event destination <{name}> already exists."
            raise SesError("AlreadyExistsException", message)
        configuration_set.event_destinations[name] = definition
        return JSONResponse({})

    async def get_event_destinations(self, request: Request) -> Response:
        destinations = self._configuration_set(request).event_destinations
        return JSONResponse(
            {
                "EventDestinations": [
                    {"Name": name, **destination} for name, destination in destinations.items()
                ]
            }
        )

    async def put_suppressed(self, request: Request) -> Response:
        body = await read_object(request)
        address, reason = text_of(body, "EmailAddress"), text_of(body, "Reason")
        if reason not in {"BOUNCE", "COMPLAINT"}:
            raise bad_request("Reason must be BOUNCE or COMPLAINT.")
        suppressions = self._suppressions(body.get("TenantName"))
        suppressions[address.lower()] = SuppressedDestination(
            address, cast("Literal['BOUNCE', 'COMPLAINT']", reason), datetime.now(UTC)
        )
        return JSONResponse({})

    async def get_suppressed(self, request: Request) -> Response:
        address: str = request.path_params["address"]
        suppressions = self._suppressions(request.query_params.get("TenantName"))
        suppressed = suppressions.get(address.lower())
        if suppressed is None:
            raise not_found(f"Email address {address} does not exist on your suppression list.")
        return JSONResponse({"SuppressedDestination": _suppression(suppressed)})

    async def delete_suppressed(self, request: Request) -> Response:
        address: str = request.path_params["address"]
        suppressions = self._suppressions(request.query_params.get("TenantName"))
        if suppressions.pop(address.lower(), None) is None:
            raise not_found(f"Email address {address} does not exist on your suppression list.")
        return JSONResponse({})

    async def list_suppressed(self, request: Request) -> Response:
        reasons = request.query_params.getlist("Reason") or ["BOUNCE", "COMPLAINT"]
        suppressions = self._suppressions(request.query_params.get("TenantName")).values()
        summaries: list[Json] = [_suppression(s) for s in suppressions if s.reason in reasons]
        return JSONResponse({"SuppressedDestinationSummaries": summaries})

    def _suppressions(self, tenant: Json) -> dict[str, SuppressedDestination]:
        """Return the list of the account, or of a tenant."""
        if tenant is None:
            return self._mailbox.suppressions
        return self._mailbox.tenants.get(str(tenant)).suppressed

    def _configuration_set(self, request: Request) -> StoredConfigurationSet:
        name: str = request.path_params["name"]
        try:
            return self._mailbox.configuration_sets[name]
        except KeyError:
            raise not_found(f"Configuration set <{name}> does not exist.") from None


def _identity_type(identity: str) -> str:
    return "EMAIL_ADDRESS" if "@" in identity else "DOMAIN"


def dkim_tokens(domain: str) -> list[str]:
    """Return the DKIM tokens of a domain, which SES chooses."""
    return [hashlib.sha256(f"{number} {domain}".encode()).hexdigest()[:32] for number in range(3)]


def _identity(identity: str, *, verified: bool) -> dict[str, Json]:
    tokens: list[Json] = [*dkim_tokens(identity)]
    return {
        "IdentityType": _identity_type(identity),
        "VerifiedForSendingStatus": verified,
        "DkimAttributes": {
            "SigningEnabled": "@" not in identity,
            "Status": "SUCCESS" if verified else "PENDING",
            "Tokens": [] if "@" in identity else tokens,
        },
    }


def _suppression(suppressed: SuppressedDestination) -> dict[str, Json]:
    return {
        "EmailAddress": suppressed.address,
        "Reason": suppressed.reason,
        "LastUpdateTime": suppressed.updated_at.timestamp(),
    }
