"""Every error code of the API (contract section 7), its status and its texts.

`make openapi` writes the tables of statuses, of SMTP replies and of errors in the shapes of Resend
and Postmark, which functions and the relay load, docs/errors.md and the examples of
docs/openapi.json. Tests make each request that an example answers, and compare the answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.errors import Json
from pillarbox.http.callers import COOKIE, KEY, SESSION

#: Any request may get these, on any route: from a function, the gateway or the firewall.
EVERYWHERE: Final = (
    "client_blocked",
    "method_not_allowed",
    "request_too_large",
    "validation_failed",
    "rate_limit_exceeded",
    "internal_error",
    "service_unavailable",
)
#: Any request may get these because of what shows who calls: a key, a session or a cookie.
OF_CREDENTIALS: Final[Mapping[str, tuple[str, ...]]] = {
    KEY: ("missing_api_key", "invalid_api_key", "account_suspended"),
    SESSION: ("invalid_session",),
    COOKIE: ("invalid_session", "cross_site_request"),
}
#: Status -> the type of its errors, if they name no other. The rest are `invalid_request_error`.
_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "authorization_error",
    404: "not_found",
    429: "rate_limit_error",
    500: "api_error",
    503: "service_unavailable",
}


@dataclass(frozen=True, slots=True)
class Error:
    """A code's status, when it occurs, what a client should do, and an example of the envelope."""

    status: int
    when: str
    remedy: str
    message: str
    details: Mapping[str, Json] | None = None
    #: Members of `details` that the example does not have.
    other_details: frozenset[str] = frozenset()
    about_details: str = ""
    upgrade_url: str | None = None
    #: The type, if it is not the one of the status.
    type_: str = ""
    #: The SMTP reply with its enhanced status code, or nothing for an error of a send that does not
    #: occur over SMTP. Without one a client of the relay gets a temporary failure.
    smtp: tuple[int, str] | tuple[()] | None = None
    #: The status and the name of Resend's error, and the status and the ErrorCode of Postmark's, if
    #: they are not those of the status. A third item is a message with their names of fields.
    resend: tuple[int, str] | tuple[int, str, str] | None = None
    postmark: tuple[int, int] | tuple[int, int, str] | None = None

    @property
    def type(self) -> str:
        """The error's type, a group of codes."""
        return self.type_ or _TYPES.get(self.status, "invalid_request_error")


def _limit(limit: int, has: str, remedy: str, things: str) -> Error:
    """Return the error for an account that has as many things of a kind as it can have."""
    return Error(
        409,
        when=f"The account has {has}.",
        about_details="`details` has `limit`.",
        remedy=remedy,
        message=f"An account can have at most {limit} {things}.",
        details={"limit": limit},
    )


_BAD_KEY: Final = "The API key is unknown, revoked or incomplete."
#: Code -> what clients learn of it.
ERRORS: Final[Mapping[str, Error]] = {
    "missing_field": Error(
        400,
        when="None of `starterTemplate`, `templateId`, `html` and `text` is given.",
        remedy="Give `starterTemplate` with a slug, `templateId` with an id, or `html` or `text`"
        " and `subject`.",
        message="One of starterTemplate, templateId, html and text must be given.",
        smtp=(),
        resend=(422, "missing_required_field", "Give `html`, `text` or `template`."),
        postmark=(422, 300, "Give `HtmlBody` or `TextBody`, or `TemplateId` or `TemplateAlias`."),
    ),
    "multiple_modes": Error(
        400,
        when="More than one of `starterTemplate`, `templateId` and `html` is given.",
        about_details="`details.given` names them.",
        remedy="Leave out all but one.",
        message="Only one of starterTemplate, templateId and html may be given.",
        details={"given": ["starterTemplate", "html"]},
        smtp=(),
        resend=(422, "validation_error", "Give only one of `html` and `template`."),
        postmark=(422, 300, "Give only one of `TemplateId` and `TemplateAlias`."),
    ),
    "invalid_recipient": Error(
        400,
        when="An address is invalid, or its domain does not accept email.",
        about_details="`details.recipients` lists each such address with the reason.",
        remedy="Correct these addresses or leave them out. Nothing was sent to anyone.",
        message="One recipient of this email is refused: ada@gone.invalid: the domain does not"
        " exist; nothing was sent.",
        details={
            "recipients": [
                {
                    "address": "ada@gone.invalid",
                    "reason": "the domain does not exist",
                    "code": "no_domain",
                }
            ]
        },
        smtp=(550, "5.1.2"),
    ),
    "recipient_suppressed": Error(
        400,
        when="An earlier email to an address bounced permanently or led to a complaint, or the"
        " operator suppressed the address.",
        about_details="`details.recipients` lists each such address with the reason: `bounced`,"
        " `complained` or `manual`.",
        remedy="Leave the address out. An operator can remove a suppression.",
        message="One recipient of this email is refused: bob@customer.example: an earlier email to"
        " it bounced permanently; nothing was sent.",
        details={"recipients": [{"address": "bob@customer.example", "reason": "bounced"}]},
        smtp=(550, "5.7.1"),
        postmark=(422, 406),
    ),
    "recipient_limit_exceeded": Error(
        400,
        when="`to`, `cc` and `bcc` have more than 50 recipients, repetitions included.",
        about_details="`details` has `count` and `limit`.",
        remedy="Send several emails, up to 100 in one batch.",
        message="An email can have at most 50 recipients; this one has 51.",
        details={"count": 51, "limit": 50},
        smtp=(452, "4.5.3"),
    ),
    "attachment_type_not_allowed": Error(
        400,
        when="A `contentType` is not allowed, the name has an extension that SES refuses (such as"
        " `.exe`, `.js`, `.bat`, `.lnk`, `.hta`), or the file is a program under any type.",
        about_details="`details` has `filename`, `content_type` and `position`.",
        remedy="Send a file of an allowed type, or a link.",
        message="setup.exe: application/octet-stream files cannot be attached. Allowed are pdf,"
        " ics, png, jpg, jpeg, gif, webp, txt, csv, doc, docx, xls, xlsx, ppt, pptx.",
        details={
            "filename": "setup.exe",
            "content_type": "application/octet-stream",
            "position": 0,
        },
        smtp=(554, "5.7.1"),
        resend=(422, "invalid_attachment"),
    ),
    "attachment_too_large": Error(
        400,
        when="A decoded file is over 5 MB, all files together are over 10 MB, or the body of a"
        " single send is longer than the API takes, which only its files can cause.",
        about_details="`details.scope` is `per_attachment` (with `filename`) or `total`;"
        " `details` also has `size_bytes` and `limit_bytes`. For a body that is too long they are"
        " those of the body.",
        remedy="If `limit_bytes` is that of the body, upload the files first with"
        " `POST /api/v1/attachments`. Otherwise send a link.",
        message="invoice.pdf is larger than 5242880 bytes.",
        details={
            "scope": "per_attachment",
            "filename": "invoice.pdf",
            "size_bytes": 5242881,
            "limit_bytes": 5242880,
        },
        smtp=(552, "5.3.4"),
        resend=(422, "invalid_attachment"),
    ),
    "too_many_attachments": Error(
        400,
        when="The email has more than 10 attachments.",
        remedy="Attach fewer files, or send several emails.",
        message="An email can have at most 10 attachments; this one has 11.",
        details={"count": 11, "limit": 10},
        smtp=(554, "5.7.1"),
        resend=(422, "invalid_attachment"),
    ),
    "batch_limit_exceeded": Error(
        400,
        when="The batch has more than 100 messages, 1,000 recipients,"
        " or 100 domains of recipients.",
        remedy="Send several batches.",
        message="A batch has at most 100 messages; this one has 101.",
        details={"scope": "messages", "count": 101, "limit": 100},
        postmark=(422, 410),
    ),
    "missing_api_key": Error(
        401,
        when="The header `X-API-Key` is missing. A key in `Authorization` is ignored.",
        remedy="Send the key in `X-API-Key`.",
        message="The header X-API-Key is missing. Send the API key in it, not in Authorization.",
    ),
    "invalid_api_key": Error(
        401,
        when="The key is unknown, revoked or expired, the address is not in its `sources`, or the"
        " request has two keys.",
        remedy="Copy the whole key, or ask the operator for a new one.",
        message="The API key is not valid: it is unknown, revoked, expired or incomplete, or"
        " it does not work from this address. The header X-API-Key has one whole key, without"
        " Bearer.",
        resend=(403, "invalid_api_key", _BAD_KEY),
        postmark=(401, 10, _BAD_KEY),
    ),
    "invalid_session": Error(
        401,
        when="The access token of a session or the cookie is missing, unknown, expired, or of a"
        " session that has ended.",
        remedy="Exchange the cookie for a new access token. If that fails, sign in again.",
        message="There is no such session, or it has ended. Sign in again.",
    ),
    "invalid_code": Error(
        401,
        when="The code is wrong, used or older than ten minutes, its flow had five attempts or was"
        " begun in another browser, or the link is used or expired. The response is the same for"
        " an address without a user.",
        remedy="Ask for a new code in the same browser.",
        message="The code does not work: it is wrong, used or too old, or is for another browser.",
    ),
    "invalid_passkey": Error(
        401,
        when="The passkey is unknown, was removed or stopped, did not verify its user, or is of"
        " another service. Or the challenge is older than five minutes or was answered. Or a copy"
        " of the passkey seems to be in use, which stops it.",
        remedy="Try again with a new challenge, or sign in with a code.",
        message="The passkey does not sign you in: it is unknown, was removed or stopped, or the"
        " page waited too long. Try again, or sign in with a code.",
    ),
    "scope_required": Error(
        403,
        when="The key, or the user's role, does not have the required permission. Only operators of"
        " the service have `service:operate`.",
        about_details="`details.required_permission` names it.",
        remedy="Use a key that has the permission, or ask an owner of the account.",
        message="The key lacks the permission emails:send.",
        details={"required_permission": "emails:send"},
        resend=(401, "restricted_api_key"),
        postmark=(401, 10),
    ),
    "no_verified_sender": Error(
        403,
        when="The account has no verified default sender, or `from` is not verified. An account"
        " without one sends to its contact only, from the service's own address.",
        about_details="In the second case, `details.from` names the address.",
        remedy="Verify the sender, or leave `from` out.",
        message="news@acme.example is not a verified sender of this account; its default is"
        " post@sender.example.",
        details={"from": "news@acme.example"},
        smtp=(550, "5.7.1"),
        resend=(403, "validation_error"),
        postmark=(422, 400),
    ),
    "upgrade_required": Error(
        403,
        when="A preview key was used for more than starter templates, or a self-service key for a"
        " field that it may not set; the message names the fields.",
        remedy="Follow `upgrade_url`.",
        message="Preview keys send starter templates only.",
        upgrade_url="https://pillarbox.example/upgrade",
    ),
    "SCOPE_NOT_ALLOWED_FOR_TIER": Error(
        403,
        when="The account's plan does not allow a scope of the new key.",
        about_details="`details` has the `scopes` and the `plan`.",
        remedy="Choose other scopes or a paid plan. No key was created.",
        message="The free plan does not allow marketing:campaigns:read.",
        details={"scopes": ["marketing:campaigns:read"], "plan": "free"},
    ),
    "recipient_not_allowed": Error(
        403,
        when="The key is an agent's, and an address is not in its list of recipients. Or the email"
        " is a test of a template, and the address is not a member's.",
        about_details="`details.recipients` lists each such address.",
        remedy="Leave the address out. An operator sets the list when creating a key.",
        message="This key may not send to every address of this email; nothing was sent. The"
        " operator sets a key's recipients when creating it.",
        details={"recipients": [{"address": "bob@customer.example", "reason": "not_allowed"}]},
        smtp=(550, "5.7.1"),
    ),
    "confirmation_required": Error(
        403,
        when="The key is an agent's, and a person must confirm each of its sends. Or an owner must"
        " release the email.",
        remedy="Send over the MCP server, which asks. Or use another key: an operator can create"
        " one that does not ask. An owner releases emails in the dashboard.",
        message="A person must confirm each send of this key, and only the MCP server can ask."
        " Nothing was sent.",
    ),
    "account_suspended": Error(
        403,
        when="The operator of the service suspended the account. No key of it works.",
        remedy="Ask the operator. Nothing was sent.",
        message="The account is suspended. Ask the operator of the service why.",
    ),
    "sending_paused": Error(
        403,
        when="Too many emails of the account, the key or the template bounced or were reported as"
        " spam, or Amazon SES paused the account. Everything except sending still works.",
        about_details="`details.scope` is `account`, `key` or `template`. `details.until` is when"
        " emails are accepted again, or null if a person has to end the pause. The codes of `otp`,"
        " `magic_link` and `password_reset` go on slowly unless the whole account is paused.",
        remedy="Correct the cause; an owner can then end the pause in the dashboard. Nothing was"
        " sent.",
        message="Sending is paused for this key until 2026-05-02 09:30 UTC, because too many of its"
        " emails bounced.",
        details={"scope": "key", "until": "2026-05-02T09:30:00.000+00:00"},
        smtp=(450, "4.7.1"),
    ),
    "client_blocked": Error(
        403,
        when="The `User-Agent` is missing, empty, or the default of some libraries. Or a browser"
        " calls the MCP server.",
        remedy="Send a `User-Agent` that names your application.",
        message="Send a User-Agent header that names your application.",
        resend=(403, "client_blocked"),
        postmark=(403, 403),
    ),
    "session_required": Error(
        403,
        when="The route is for users of the dashboard, and the request has an API key.",
        remedy="Sign in to the dashboard.",
        message="API keys cannot be used here: sign in to the dashboard.",
        resend=(401, "restricted_api_key"),
    ),
    "sign_in_required": Error(
        403,
        when="A passkey is to be added in a session that began more than 15 minutes ago. Or"
        " `OperatorPasskeys` is `required`, and an operator who signed in without a passkey, and"
        " not with a link of the operator's command, changes passkeys.",
        remedy="Sign in again, as the message says.",
        message="Sign in again to add a passkey: this session is older.",
    ),
    "cross_site_request": Error(
        403,
        when="A request that needs or sets the cookie has another `Origin` than the API, no"
        " `Sec-Fetch-Site: same-origin`, or another content type than JSON. Or a page of another"
        " site asks for a code.",
        remedy="Send it from a page of the dashboard.",
        message="Only this service's own pages may send this, as JSON.",
    ),
    "sign_up_closed": Error(
        403,
        when="The user asks for an account, and sign-up is closed, or needs an invitation or an"
        " address of another domain, or the user has created an account or was refused one.",
        remedy="Ask the operator of the service.",
        message="You cannot create an account here. Ask the operator of the service for one.",
    ),
    "preview_keys_closed": Error(
        403,
        when="A visitor asks for a preview key, and the service has no preview widget.",
        remedy="Ask the operator of the service for a key.",
        message="This service gives no preview keys to visitors. Ask its operator for one.",
    ),
    "attachment_not_found": Error(
        404,
        when="There is no uploaded file with the `attachmentId` in this account: none was made, its"
        " bytes have not arrived, or it is over 24 hours old.",
        about_details="`details.attachment_id` is the id.",
        remedy="Upload the file with `POST /api/v1/attachments` and a PUT to its `url`.",
        message="There is no uploaded file with this attachmentId, or it is over 24 hours old.",
        details={"attachment_id": "0198c2a0-7b7e-7c3a-9f5e-2f6d1c0b8a95"},
        smtp=(),
        resend=(422, "invalid_attachment"),
        postmark=(422, 300),
    ),
    "template_not_found": Error(
        404,
        when="No starter template has the slug, or the account has no template with the id.",
        remedy="Correct the slug, which `GET /api/v1/starter-templates` lists, or the id, which"
        " `GET /api/v1/templates` lists.",
        message="There is no starter template 'magic-link'; did you mean magic_link? The slugs are"
        " otp, magic_link, email_verify, welcome, password_reset, password_changed, team_invite,"
        " trial_ending, payment_receipt, security_alert.",
        smtp=(),
        postmark=(422, 1101),
    ),
    "version_not_found": Error(
        404,
        when="The template has no version with the number.",
        remedy="Correct the number. `GET /api/v1/templates/{id}/versions` lists the versions.",
        message="The template has no such version.",
    ),
    "message_not_found": Error(
        404,
        when="The account has no message with the id.",
        remedy="Use the `messageId` of a send, with a key of the same account.",
        message="There is no such message.",
    ),
    "content_not_found": Error(
        404,
        when="The account has no message with this id whose content is kept: it was not kept, or"
        " its days are over.",
        remedy="`kept` of the message says until when. Set `keepDays` of the account to keep the"
        " content of emails from now on.",
        message="There is no kept content of such a message.",
    ),
    "received_not_found": Error(
        404,
        when="The account has no received mail with this id, or its days are over.",
        remedy="`kept` of a received mail says until when. `receivedDays` of the account is for how"
        " long.",
        message="The account has received no such mail.",
    ),
    "account_not_found": Error(
        404,
        when="Operators only: the account does not exist.",
        remedy="Correct the id; `pillarbox account list` shows all accounts.",
        message="There is no such account: `pillarbox account list` shows all.",
    ),
    "key_not_found": Error(
        404,
        when="The account does not have the key.",
        remedy="Correct the id, which `GET /api/v1/keys` lists.",
        message="There is no such key.",
    ),
    "sender_not_found": Error(
        404,
        when="The account does not have the sender.",
        remedy="Correct the address. `GET /api/v1/senders` lists the senders, and for operators"
        " `pillarbox sender list`.",
        message="The account has no sender news@acme.example.",
    ),
    "suppression_not_found": Error(
        404,
        when="The address is not suppressed.",
        remedy="Nothing.",
        message="The account does not suppress this address.",
    ),
    "webhook_not_found": Error(
        404,
        when="The account has no such webhook endpoint.",
        remedy="Correct the id. `GET /api/v1/webhooks` lists the endpoints.",
        message="The account has no such webhook endpoint.",
    ),
    "delivery_not_found": Error(
        404,
        when="The endpoint has no such delivery, or the delivery is older than 30 days.",
        remedy="Correct the id, or replay the time in which the email was accepted.",
        message="The endpoint has no such delivery.",
    ),
    "session_not_found": Error(
        404,
        when="The user has no session with the id.",
        remedy="Correct the id, which `GET /api/v1/session` lists.",
        message="You have no such session.",
    ),
    "passkey_not_found": Error(
        404,
        when="The user has no passkey with the id.",
        remedy="Correct the id, which `GET /api/v1/passkeys` lists.",
        message="You have no such passkey.",
    ),
    "member_not_found": Error(
        404,
        when="The account does not have the member.",
        remedy="Correct the id, which `GET /api/v1/members` lists.",
        message="The account has no such member.",
    ),
    "domain_not_found": Error(
        404,
        when="The account has no such domain.",
        remedy="Correct the name. `GET /api/v1/domains` lists the domains.",
        message="The account has no such domain.",
    ),
    "route_not_found": Error(
        404,
        when="The path does not exist, or the operator switched webhooks off.",
        remedy="Correct the path; each begins with `/api/v1/`.",
        message="There is no such route.",
    ),
    "method_not_allowed": Error(
        405,
        when="The path does not have the method. The header `Allow` lists its methods.",
        remedy="Use one of these methods.",
        message="This route takes GET, DELETE.",
    ),
    "idempotency_key_mismatch": Error(
        409,
        type_="idempotency_error",
        when="The `Idempotency-Key` was used with a different body within the last 24 hours.",
        remedy="Use a new key for each operation.",
        message="This Idempotency-Key was used with a different body.",
        smtp=(554, "5.5.0"),
        resend=(409, "invalid_idempotent_request"),
        postmark=(422, 300),
    ),
    "idempotency_in_flight": Error(
        409,
        type_="idempotency_error",
        when="The first request with this `Idempotency-Key` is still being processed.",
        remedy="Try again after `Retry-After` (5 s).",
        message="A request with this Idempotency-Key is still being processed.",
        smtp=(451, "4.5.0"),
        resend=(409, "concurrent_idempotent_requests"),
    ),
    "not_cancelable": Error(
        409,
        when="The message does not wait: it was sent at once, a worker has taken it, or it failed."
        " `PATCH` is for scheduled messages, and `release` for held ones.",
        remedy="Read the message: its status says what happened to it.",
        message="The message does not wait any more; nothing was changed.",
    ),
    "not_resendable": Error(
        409,
        when="The email comes from a starter template with a code or a link by which people sign"
        " in: `otp`, `magic_link`, `password_reset` or `email_verify`.",
        remedy="Send a new one: the old code or link may have expired or been used.",
        message="The email has a code or a link by which people sign in. Send a new one.",
    ),
    "template_in_use": Error(
        409,
        when="An active campaign or a scheduled send uses the template.",
        remedy="Delete the template when they have ended. It was not deleted.",
        message="An active campaign or scheduled send uses the template; it was not deleted.",
    ),
    "draft_changed": Error(
        409,
        when="Another user changed the draft since the revision in `If-Match`.",
        about_details="`details.draft` is what is stored now, and `details.revision` the revision"
        " that the request named.",
        remedy="Show both to the author. Then send the request with the new revision.",
        message="ada@shop.example changed the draft: it has revision 1 now.",
        details={
            "revision": 0,
            "draft": {
                "id": "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d",
                "name": "Receipt",
                "subject": "Receipt",
                "category": "billing",
                "kind": "html",
                "revision": 1,
                "version": 0,
                "changed": True,
                "changes": 1,
                "updatedBy": "ada@shop.example",
                "updatedAt": "2026-01-01T12:00:00.000+00:00",
                "publishedVersion": None,
                "source": "<p>Hello {{ name }}</p>",
                "text": None,
                "keepDays": MAX_KEEP,
                "locales": {},
                "samples": {},
            },
        },
    ),
    "already_exists": Error(
        409,
        when="`If-None-Match` or `If-Match` of a creation leaves out an object of the same name.",
        about_details="`details.ids` lists those that the request does not name.",
        remedy="Use that one, or list again and decide.",
        message="Another request has created it already.",
        details={"ids": ["key_qh4ybvcvbqzk1a2b3c4d"]},
    ),
    "webhook_limit_exceeded": _limit(
        10,
        "ten webhook endpoints",
        "Delete an endpoint, or let one receive more types.",
        "webhook endpoints",
    ),
    "domain_in_use": Error(
        409,
        when="The account has senders of the domain, or the domain receives mail.",
        about_details="`details.senders` lists them.",
        remedy="Remove these senders first, or switch receiving off. The domain was not removed.",
        message="Senders of the account use shop.example. Remove them first.",
        details={"senders": ["hello@shop.example"]},
    ),
    "domain_limit_exceeded": _limit(
        20,
        "twenty domains",
        "Remove a domain. Addresses of subdomains need no domain of their own.",
        "domains",
    ),
    "key_limit_exceeded": _limit(
        100,
        "100 keys that are not revoked",
        "Revoke a key that nothing uses: the list says when each was last used.",
        "keys that are not revoked",
    ),
    "member_limit_exceeded": _limit(100, "100 members", "Remove a member.", "members"),
    "passkey_limit_exceeded": Error(
        409,
        when="The user has ten passkeys.",
        about_details="`details.limit` is the number.",
        remedy="Remove a passkey that you do not use.",
        message="A user can have at most 10 passkeys.",
        details={"limit": 10},
    ),
    "template_limit_exceeded": _limit(
        200,
        "200 templates that have a draft, published ones included",
        "Delete a template.",
        "templates",
    ),
    "member_exists": Error(
        409,
        when="The invited address is that of a member.",
        remedy="Change the member's role instead.",
        message="The address is that of a member already.",
    ),
    "last_owner": Error(
        409,
        when="The member is the account's only owner.",
        remedy="Make another member an owner first.",
        message="An account needs an owner. Make another member an owner first.",
    ),
    "request_too_large": Error(
        413,
        when="The request is too large.",
        about_details="`details.limit_bytes` is the limit.",
        remedy="Send fewer emails in a batch, or upload their files first with"
        " `POST /api/v1/attachments`.",
        message="The request is too large.",
        details={"limit_bytes": 16777216},
        smtp=(552, "5.3.4"),
    ),
    "validation_failed": Error(
        422,
        when="The body, a header or a parameter does not have the documented shape,"
        " or a value that the template needs is missing.",
        about_details="`details.errors[]` lists the first 100 errors; a last item with the code"
        " `more_errors` says how many more there are.",
        remedy="Correct each field in `details.errors[]`; its `message` says how.",
        message="subject: is required with html (and 1 more)",
        details={
            "errors": [
                {"field": "subject", "message": "is required with html", "code": "required"},
                {
                    "field": "replyto",
                    "message": "is not a field; did you mean replyTo?",
                    "code": "unknown_field",
                },
            ]
        },
        smtp=(554, "5.6.0"),
    ),
    "rate_limit_exceeded": Error(
        429,
        when="The account's limit for this minute is reached, too many of its messages were"
        " refused or repeated in this minute, an IP address or a key sends too many requests,"
        " one of them has too many large requests in progress, too many tests or replays of"
        " webhooks were asked for, an address or a network asked for too many one-time codes, or"
        " an account invited too many members on this day.",
        about_details="`details.limit_per_minute` is the account's limit.",
        remedy="Wait until the next minute (`RateLimit-Reset`, in seconds)."
        " There is no `Retry-After`.",
        message="The account may send 60 messages per minute; 0 are left.",
        details={"limit_per_minute": 60},
        smtp=(451, "4.7.1"),
    ),
    "daily_limit_exceeded": Error(
        429,
        when="The account's limit for this day is reached, of messages or of recipients.",
        about_details="`details` has the limit that is reached: `limit_per_day` of messages, or"
        " `limit_recipients_per_day` of recipients.",
        remedy="Wait until midnight UTC (`RateLimit-Reset`).",
        message="The account may send 300 messages per day; 0 are left.",
        details={"limit_per_day": 300},
        other_details=frozenset({"limit_recipients_per_day"}),
        smtp=(452, "4.7.1"),
        resend=(429, "daily_quota_exceeded"),
        postmark=(422, 405),
    ),
    "monthly_limit_exceeded": Error(
        429,
        when="The account's limit for this month is reached.",
        about_details="`details.limit_per_month` is the limit.",
        remedy="Wait until the first day of the next month, UTC (`RateLimit-Reset`),"
        " or choose a larger plan.",
        message="The account may send 9000 messages per month; 0 are left.",
        details={"limit_per_month": 9000},
        smtp=(452, "4.7.1"),
        resend=(429, "monthly_quota_exceeded"),
        postmark=(422, 405),
    ),
    "internal_error": Error(
        500,
        when="The service has a bug or an unexpected problem.",
        remedy="Try again with the same `Idempotency-Key`."
        " If the error remains, ask for help and name the `X-Request-Id`.",
        message="Something went wrong on our side.",
    ),
    "service_unavailable": Error(
        503,
        when="A part of the service cannot be reached, or did not respond in time.",
        remedy="Try again later with the same `Idempotency-Key`, so that nothing is sent twice.",
        message="The data store cannot be reached at the moment; nothing was changed.",
    ),
}


def example_of(code: str) -> dict[str, Json]:
    """Return an OpenAPI example object: the envelope of one code."""
    shown = ERRORS[code]
    error: dict[str, Json] = {"code": code, "message": shown.message, "type": shown.type}
    if shown.details is not None:
        error["details"] = dict(shown.details)
    if shown.upgrade_url is not None:
        error["upgrade_url"] = shown.upgrade_url
    return {"summary": shown.when.replace("`", ""), "value": {"error": error}}
