"""What an error says to who knows another service, or wrote its fields."""

import json
from typing import Any

import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEvent

from pillarbox.domain.errors import Json, ValidationFailed
from pillarbox.http import hints
from pillarbox.http.accept import read_send
from pillarbox.http.batch_body import read_batch
from pillarbox.http.dialects import Fields, describe
from pillarbox.http.messages.history_query import MessagesQuery
from pillarbox.http.messages.wire import (
    AttachmentModel,
    RenderStarterRequest,
    SendBatchRequest,
    SendEmailRequest,
)
from pillarbox.http.query import TemplatesQuery
from pillarbox.http.requests import read_api_key
from pillarbox.http.webhooks.wire import ChangeWebhookRequest, CreateWebhookRequest
from pillarbox.http.wire import WireModel, fields_of, validate
from pillarbox.rendering.starters import SLUGS, get_starter
from tests.loops import for_each
from tests.refusals import refusal

SHAPES = {shape.__name__: shape for shape in (SendEmailRequest, SendBatchRequest)} | {
    shape.__name__: shape
    for shape in (
        *(AttachmentModel, RenderStarterRequest),
        *(CreateWebhookRequest, ChangeWebhookRequest),
    )
}


def event(body: str = "", headers: Any = None) -> APIGatewayProxyEvent:
    return APIGatewayProxyEvent({"body": body, "multiValueHeaders": headers or {"Accept": ["*/*"]}})


def messages(shape: type[WireModel], body: Json) -> dict[str, str]:
    with pytest.raises(ValidationFailed) as failed:
        validate(shape, body)
    return {error.field: error.message for error in failed.value.errors}


@for_each(
    ("name", "hint"),
    [
        ("TextBody", "is not a field: a text part of your own goes in text"),
        ("HtmlBody", "is not a field: the HTML goes in html"),
        ("scheduled_at", "is not a field; did you mean scheduledAt?"),
        ("send_at", "the time to send it goes in scheduledAt"),
        ("custom_headers", "header fields go in headers, an object of names and values"),
        ("personalizations", "the recipients are the bare addresses in to, cc and bcc"),
        ("template", "a starter's slug goes in starterTemplate"),
        ("TemplateModel", "the values of the template go in variables"),
        ("template_id", "is not a field; did you mean templateId?"),
        ("reply_to", "is not a field; did you mean replyTo?"),
        ("from_name", "is not a field; did you mean fromName?"),
        ("from_email", "the sender goes in from, as an address or as Name <address>"),
        ("metadata", 'go in tags, an object such as {"order": "10442"}'),
        ("idempotency_key", "the key goes in the header Idempotency-Key"),
    ],
)
def test_a_field_of_another_service_names_the_alternative(name: str, hint: str) -> None:
    """A field that Resend, Postmark, SendGrid or SES have is refused with what to use here."""
    body: Json = {"to": "ada@example.com", "starterTemplate": "otp", name: "x"}
    (message,) = messages(SendEmailRequest, body).values()
    assert hint in message


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Name", "the name of the file goes in filename"),
        ("type", "the MIME type goes in contentType"),
        ("path", "no file is fetched"),
        ("content_id", "did you mean contentId?"),
    ],
)
def test_a_field_of_an_attachment_names_the_alternative(name: str, hint: str) -> None:
    file: Json = {"filename": "a.pdf", "contentType": "a/b", "content": "", name: "x"}
    body: Json = {"to": "a@b.example", "html": "x", "subject": "x", "attachments": [file]}
    assert hint in messages(SendEmailRequest, body)[f"attachments.0.{name}"]


@pytest.mark.parametrize("shape", [CreateWebhookRequest, ChangeWebhookRequest])
def test_a_field_of_a_webhook_names_the_alternative(shape: type[WireModel]) -> None:
    """Other services call the types of events `events`, and Resend the URL `endpoint`."""
    body: dict[str, Json] = {"url": "https://a.example/", "types": ["email.sent"]}
    for name in ("events", "enabled_events", "eventTypes"):
        refused = messages(shape, body | {name: []})
        assert refused == {name: "is not a field: the types of events go in types"}
    refused = messages(CreateWebhookRequest, body | {"endpoint": "x"})
    assert refused == {"endpoint": "is not a field: the address goes in url"}


@for_each("shape", SHAPES.values())
def test_no_hint_hides_a_field(shape: type[WireModel]) -> None:
    listed = " ".join(hints._INSTEAD[shape.__name__].values()).split()
    known = {field.name.lower() for field in fields_of(shape).values()}
    assert len(set(listed)) == len(listed)
    assert known.isdisjoint(listed)
    assert set(hints._INSTEAD) == set(SHAPES)


@pytest.mark.parametrize(
    ("shape", "known"),
    [
        (
            MessagesQuery,
            "from, to, status, skip, limit, sortBy, recipient, tag, keyId, template and error",
        ),
        (TemplatesQuery, "skip and limit"),
    ],
)
def test_an_unknown_filter_names_those_that_exist(shape: type[WireModel], known: str) -> None:
    expected = f"is not a parameter; the parameters are {known}"
    assert messages(shape, {"recipients": "x"}) == {"recipients": expected}


ADDRESS = "must be a string: the bare address, without a name"
OBJECT: Any = {"email": "ada@example.com", "name": "Ada"}


@for_each(
    ("field", "value", "expected"),
    [
        (
            "from",
            OBJECT,
            {"from": "must be a string: an address, or a name and an address in angle brackets"},
        ),
        (
            "headers",
            [{"name": "X-A", "value": "b"}],
            {"headers": 'must be an object of names and values: {"X-Order": "10442"}'},
        ),
        (
            "replyTo",
            OBJECT,
            {"replyTo": "must be a string: an address, or a name and an address in angle brackets"},
        ),
        ("to", [OBJECT], {"to.0": ADDRESS}),
        ("to", OBJECT, {"to": "must be a bare address or a list of bare addresses"}),
        (
            "templateId",
            "otp",
            {"templateId": "must be a UUID; a starter's slug goes in starterTemplate"},
        ),
    ],
)
def test_other_forms_of_a_value(field: str, value: Json, expected: dict[str, str]) -> None:
    """An address with a name, an address as an object and a slug as an id get a hint."""
    body = {"to": "ada@example.com", "starterTemplate": "otp"} | {field: value}
    assert messages(SendEmailRequest, body) == expected


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        ({}, "The header X-API-Key is missing. Send the API key in it."),
        (
            {"Authorization": ["Bearer bx_live_x"]},
            "The header X-API-Key is missing. Send the API key in it, not in Authorization.",
        ),
    ],
)
def test_a_key_in_the_wrong_place(headers: dict[str, list[str]], hint: str) -> None:
    """Contract 5: a key in Authorization is missing, and the error names the right header."""
    assert refusal(read_api_key, event(headers=headers)).message == hint


@pytest.mark.parametrize(
    ("body", "headers", "message"),
    [
        ("", {}, "the body is empty, not JSON"),
        (
            "to=ada",
            {"Content-Type": ["application/x-www-form-urlencoded"]},
            "the body is a form, not JSON",
        ),
        ("[]", {}, "must be an object: several emails go to POST /api/v1/emails/batch"),
    ],
)
def test_a_body_of_another_form(body: str, headers: dict[str, list[str]], message: str) -> None:
    parsed = read_send(event(body=body, headers=headers), "POST /v1/emails")
    assert isinstance(parsed.request, ValidationFailed)
    (error,) = parsed.request.errors
    assert (error.field, error.message) == ("", message)


def test_a_batch_as_a_list() -> None:
    parsed = read_batch(event(body=json.dumps([{}])), "POST /v1/emails/batch")
    assert isinstance(parsed.request, ValidationFailed)
    assert parsed.request.message == "must be an object: the emails go in its field messages"


@pytest.mark.parametrize(
    ("slug", "hint"),
    [
        ("magic-link", "; did you mean magic_link?"),
        ("Welcom", "; did you mean welcome?"),
        ("zzz", "."),
    ],
)
def test_an_unknown_slug_names_the_closest(slug: str, hint: str) -> None:
    slugs = f"The slugs are {', '.join(SLUGS)}."
    message = f"There is no starter template '{slug}'{hint} {slugs}"
    assert refusal(get_starter, slug).message == message


def test_a_response_lists_few_of_many_unknown_fields() -> None:
    """A thousand unknown fields make an error whose text stays short."""
    with pytest.raises(ValidationFailed) as failed:
        Fields({}, {}, {}).translate({f"{number}" * 100: 1 for number in range(1_000)})
    text = describe(failed.value, {})
    assert text.endswith("(990 more)")
    assert len(text) < 1_100
