"""The operations of identities: the addresses and domains that an account may send from."""

import hashlib
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import flag_of, only, page_of, read_object, text_of
from local.ses.errors import SesError, bad_request, not_found, not_imitated
from local.ses.store import MailStore
from pillarbox.domain.errors import Json

_IDENTITIES: Final = "/v2/email/identities"


def identity_routes(mailbox: MailStore) -> list[Route]:
    """Return the routes of the operations of identities."""
    api = _Identities(mailbox)
    one = f"{_IDENTITIES}/{{identity}}"
    return [
        Route(_IDENTITIES, api.create, methods=["POST"]),
        Route("/v2/email/list-identities", api.list_all, methods=["POST"]),
        Route(f"{one}/mail-from", api.put_mail_from, methods=["PUT"]),
        Route(f"{one}/feedback", api.put_feedback, methods=["PUT"]),
        Route(f"{_IDENTITIES}/{{identity:path}}", api.get),
        Route(f"{_IDENTITIES}/{{identity:path}}", api.delete, methods=["DELETE"]),
    ]


class _Identities:
    """One method per operation."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox

    async def create(self, request: Request) -> Response:
        body = await read_object(request, "EmailIdentity", "DkimSigningAttributes")
        identity = text_of(body, "EmailIdentity")
        only(body, "DkimSigningAttributes", "NextSigningKeyLength")
        if self._mailbox.identity_verified(identity) is not None:
            message = f"Email identity {identity} already exist."
            raise SesError("AlreadyExistsException", message)
        verified = self._mailbox.create_identity(identity)
        return JSONResponse(_identity(identity, verified=verified))

    async def get(self, request: Request) -> Response:
        identity = self._named(request)
        verified = bool(self._mailbox.identity_verified(identity))
        details: dict[str, Json] = {
            "FeedbackForwardingStatus": self._mailbox.forwards_feedback(identity),
            "VerificationStatus": self._mailbox.identity_status(identity),
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
        identity = self._named(request)
        body = await read_object(request, "MailFromDomain", "BehaviorOnMxFailure")
        domain = text_of(body, "MailFromDomain")
        if body.get("BehaviorOnMxFailure", "USE_DEFAULT_VALUE") != "USE_DEFAULT_VALUE":
            raise not_imitated("BehaviorOnMxFailure REJECT_MESSAGE")
        if not domain.endswith(f".{identity}"):
            raise bad_request(f"The MAIL FROM domain must be a subdomain of {identity}.")
        self._mailbox.mail_from[identity] = domain
        return JSONResponse({})

    async def put_feedback(self, request: Request) -> Response:
        identity = self._named(request)
        body = await read_object(request, "EmailForwardingEnabled")
        enabled = flag_of(body, "EmailForwardingEnabled")
        self._mailbox.set_feedback_forwarding(identity, enabled=enabled)
        return JSONResponse({})

    async def delete(self, request: Request) -> Response:
        self._mailbox.delete_identity(self._named(request))
        return JSONResponse({})

    async def list_all(self, request: Request) -> Response:
        body = await read_object(request, "NextToken", "PageSize")
        found: list[Json] = [
            {
                "IdentityName": identity,
                "IdentityType": _identity_type(identity),
                "SendingEnabled": verified,
                "VerificationStatus": self._mailbox.identity_status(identity),
            }
            for identity, verified in self._mailbox.identities().items()
        ]
        return page_of(body, "EmailIdentities", found)

    def _named(self, request: Request) -> str:
        identity: str = request.path_params["identity"]
        if self._mailbox.identity_verified(identity) is None:
            raise not_found(f"Email identity {identity} does not exist.")
        return identity


def _identity_type(identity: str) -> str:
    return "EMAIL_ADDRESS" if "@" in identity else "DOMAIN"


def dkim_tokens(domain: str) -> list[str]:
    """Return the DKIM tokens of a domain, which SES chooses."""
    return [hashlib.sha256(f"{number} {domain}".encode()).hexdigest()[:32] for number in range(3)]


def _identity(identity: str, *, verified: bool) -> dict[str, Json]:
    signing: dict[str, Json] = {
        "SigningEnabled": True,
        "Status": "SUCCESS" if verified else "PENDING",
        "Tokens": [*dkim_tokens(identity)],
        "SigningHostedZone": "dkim.amazonses.com",
        "SigningAttributesOrigin": "AWS_SES",
        "NextSigningKeyLength": "RSA_2048_BIT",
    }
    of_address: dict[str, Json] = {"SigningEnabled": False, "Status": "NOT_STARTED", "Tokens": []}
    return {
        "IdentityType": _identity_type(identity),
        "VerifiedForSendingStatus": verified,
        "DkimAttributes": of_address if "@" in identity else signing,
    }
