"""The operations of the account: limits, production access, plan and suppression."""

from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.ses.bodies import flag_of, read_object, text_of
from local.ses.errors import bad_request
from local.ses.store import MailStore
from local.ses.suppression_routes import read_suppression

if TYPE_CHECKING:
    from pillarbox.domain.errors import Json

#: The pricing plans. SES may begin a cheaper one with the next month; here each begins at once.
_PLANS: Final = ("NONE", "ESSENTIALS", "PRO", "ENTERPRISE")


def account_routes(mailbox: MailStore) -> list[Route]:
    """Return the routes of the operations of the account."""
    api = _Account(mailbox)
    return [
        Route("/v2/email/account", api.get),
        Route("/v2/email/account/details", api.put_details, methods=["POST"]),
        Route("/v2/email/account/sending", api.put_sending, methods=["PUT"]),
        Route("/v2/email/account/suppression", api.put_suppression, methods=["PUT"]),
        Route("/v2/email/account/pricing-attributes", api.put_plan, methods=["PUT"]),
    ]


class _Account:
    """One method per operation."""

    def __init__(self, mailbox: MailStore) -> None:
        self._mailbox = mailbox
        self._account = mailbox.account

    async def get(self, _request: Request) -> Response:
        account = self._account
        answer: dict[str, Json] = {
            "ProductionAccessEnabled": not account.in_sandbox,
            "SendingEnabled": account.sending_enabled,
            "EnforcementStatus": "HEALTHY",
            "DedicatedIpAutoWarmupEnabled": False,
            "SendQuota": {
                "Max24HourSend": account.daily_quota,
                "MaxSendRate": account.send_rate,
                "SentLast24Hours": float(self._mailbox.sent_last_24_hours()),
            },
            "SuppressionAttributes": {"SuppressedReasons": [*account.suppressed_reasons]},
            "PricingAttributes": {"CurrentPlan": account.plan},
        }
        review: Json = {"Status": account.review, "CaseId": account.case_id}
        if account.review:
            answer["Details"] = account.details | {"ReviewDetails": review}
        elif account.details:
            answer["Details"] = account.details
        return JSONResponse(answer)

    async def put_details(self, request: Request) -> Response:
        body = await read_object(
            request,
            "MailType",
            "WebsiteURL",
            "ContactLanguage",
            "UseCaseDescription",
            "AdditionalContactEmailAddresses",
            "ProductionAccessEnabled",
        )
        if text_of(body, "MailType") not in {"MARKETING", "TRANSACTIONAL"}:
            raise bad_request("MailType must be MARKETING or TRANSACTIONAL.")
        text_of(body, "WebsiteURL")
        self._account.request_production(body)
        return JSONResponse({})

    async def put_sending(self, request: Request) -> Response:
        body = await read_object(request, "SendingEnabled")
        self._account.sending_enabled = flag_of(body, "SendingEnabled")
        return JSONResponse({})

    async def put_suppression(self, request: Request) -> Response:
        options = read_suppression(await read_object(request, "SuppressedReasons"))
        self._account.suppressed_reasons = options.reasons or ()
        return JSONResponse({})

    async def put_plan(self, request: Request) -> Response:
        plan = text_of(await read_object(request, "Plan"), "Plan")
        if plan not in _PLANS:
            raise bad_request(f"Plan must be one of {', '.join(_PLANS)}.")
        self._account.plan = plan
        return JSONResponse({})
