"""The operations of the template editor."""

from functools import partial
from typing import Final

from openapi.operation import SESSION, example, managing_operation
from pillarbox.domain.accounts.account import MAX_KEEP
from pillarbox.domain.accounts.key import DRAFTS_READ, DRAFTS_WRITE, TEMPLATES_WRITE
from pillarbox.http.messages.replies import SendResult
from pillarbox.http.query import VersionsQuery
from pillarbox.http.templates.replies import (
    DraftItem,
    DraftList,
    PublishedItem,
    RenderedItem,
    VersionDetail,
    VersionList,
)
from pillarbox.http.templates.wire import (
    CreateTemplateRequest,
    RenderTemplateRequest,
    RestoreVersionRequest,
    SaveDraftRequest,
    TestTemplateRequest,
)

_ID: Final = "0199f0c2-7d1e-7a30-8c55-3f0e6a1b2c3d"
_AT: Final = "2026-01-01T12:00:00.000+00:00"
_BY: Final = "ada@shop.example"
_SOURCE: Final = "<p>Hello {{ name | default('there') }}, thank you for order {{ order }}.</p>"
_HTML: Final = "<p>Hello Ada, thank you for order 10442.</p>"
_CONTENT: Final = {"name": "Receipt", "subject": "Your order {{ order }}", "category": "billing"}
_BODY: Final = {"kind": "html", "source": _SOURCE}
_SAMPLES: Final = {"ada": {"name": "Ada", "order": "10442"}}
_ROW: Final = {
    "id": _ID,
    **_CONTENT,
    "kind": "html",
    "revision": 3,
    "version": 7,
    "changed": True,
    "changes": 2,
    "updatedBy": _BY,
    "updatedAt": _AT,
}
_PARTS: Final = {
    "source": _SOURCE,
    "text": "Thank you, {{ name }}!",
    "keepDays": MAX_KEEP,
    "locales": {
        "de": {"subject": "Ihre Quittung", "source": "<p>Danke, {{ name }}!</p>", "text": None}
    },
}
_DRAFT: Final = _ROW | _PARTS | {"publishedVersion": 7, "samples": _SAMPLES}
_VERSION: Final = {
    "version": 7,
    "published": True,
    **_CONTENT,
    "kind": "html",
    "publishedBy": _BY,
    "publishedAt": _AT,
}
_RENDERED: Final = {
    "subject": "Your order 10442",
    "html": _HTML,
    "text": "Hello Ada, thank you for order 10442.",
    "bytes": len(_HTML),
    "variables": [
        {"path": "order", "line": 1, "required": True, "default": None, "type": "text"},
        {"path": "name", "line": 1, "required": False, "default": "there", "type": "text"},
    ],
    "problems": [
        {
            "severity": "note",
            "code": "no_preheader",
            "message": "There is no preheader: inboxes show the first words of the email instead.",
            "field": "source",
            "line": None,
            "suggestion": None,
        }
    ],
}
_OF_ONE: Final = "/v1/templates/{id}"


_operation: Final = partial(
    managing_operation, tag="Template editor", shared_function="edit_templates"
)
_read: Final = partial(_operation, scope=DRAFTS_READ)
_write: Final = partial(_operation, scope=DRAFTS_WRITE)

TEMPLATE_EDITOR: Final = (
    _write(
        id="create_template",
        creates_named=True,
        route="POST /v1/templates",
        summary="Begin a template",
        description="Creates a draft from a starter template with the account's brand, from HTML,"
        " or with a few words. Emails can use the template once it is published.",
        body=CreateTemplateRequest,
        body_examples=example(
            "starter",
            "From a starter",
            {"name": "Receipt", "category": "billing", "starterTemplate": "payment_receipt"},
        )
        | example("html", "From HTML", {"name": "Receipt", "category": "billing", "html": _SOURCE}),
        response=DraftItem,
        status=201,
        response_example=_ROW
        | {"version": 0, "revision": 1, "changes": 1, "publishedVersion": None}
        | {"source": _SOURCE, "text": None, "keepDays": MAX_KEEP, "locales": {}, "samples": {}},
        errors=("template_not_found", "template_limit_exceeded", "rate_limit_exceeded"),
    ),
    _read(
        id="render_template",
        route="POST /v1/templates/render",
        summary="Preview a source",
        description="Renders a source with the engine that sends use, and checks it. Nothing is"
        " stored. A value that is missing shows its name. With `templateId` the problems have a"
        " `variable_not_sent` for each required variable that sends by this template did not give"
        " in the last 7 days.",
        body=RenderTemplateRequest,
        body_examples=example(
            "default",
            "A receipt",
            {
                "subject": _CONTENT["subject"],
                **_BODY,
                "variables": _SAMPLES["ada"],
            },
        ),
        response=RenderedItem,
        response_example=_RENDERED,
        errors=("rate_limit_exceeded",),
    ),
    _read(
        id="list_drafts",
        route="GET /v1/templates/drafts",
        summary="List drafts",
        description="The saved drafts, also of templates that are not published yet."
        " The newest templates come first.",
        response=DraftList,
        response_example={"items": [_ROW]},
    ),
    _read(
        id="get_draft",
        route=f"GET {_OF_ONE}/draft",
        summary="Get a draft",
        description="The draft of a template, or what is published if there is none.",
        response=DraftItem,
        response_example=_DRAFT,
    ),
    _write(
        id="save_draft",
        route=f"PUT {_OF_ONE}/draft",
        summary="Save a draft",
        description="Replaces a revision of the draft. The source may have faults until it is"
        " published.",
        takes_revision=True,
        body=SaveDraftRequest,
        body_examples=example("default", "A receipt", {**_CONTENT, **_BODY, "samples": _SAMPLES}),
        response=DraftItem,
        response_example=_DRAFT,
        errors=("rate_limit_exceeded",),
    ),
    _write(
        id="publish_template",
        route=f"POST {_OF_ONE}/publish",
        summary="Publish a draft",
        description="Makes the draft the next version, which emails use from now on. Emails that"
        " were accepted before keep the old one. The `problems` of the answer warn of variables"
        " that it needs and that sends of the last 7 days did not give; they stop nothing.",
        takes_revision=True,
        response=PublishedItem,
        response_example={
            "id": _ID,
            "version": 8,
            "variables": ["order", "name"],
            "locales": ["de"],
            "updatedAt": _AT,
            "problems": [
                {
                    "severity": "warning",
                    "code": "variable_not_sent",
                    "message": "order is required, and 12 of 400 emails of the last 7 days (3 %)"
                    " had no value for it. Such sends are refused once this is published.",
                    "field": "variables",
                    "line": None,
                    "suggestion": None,
                }
            ],
        },
        errors=("rate_limit_exceeded",),
    ),
    _read(
        id="list_versions",
        route=f"GET {_OF_ONE}/versions",
        summary="List versions",
        description="What was published, the newest first.",
        query=VersionsQuery,
        response=VersionList,
        response_example={"items": [_VERSION], "nextCursor": None},
    ),
    _read(
        id="get_version",
        route=f"GET {_OF_ONE}/versions/{{version}}",
        summary="Get a version",
        description="A version with its source and its HTML.",
        response=VersionDetail,
        response_example=_VERSION | _PARTS | {"html": _SOURCE},
    ),
    _write(
        id="restore_version",
        route=f"POST {_OF_ONE}/restore",
        summary="Restore a version",
        description="Replaces the draft by a version. It is not published.",
        takes_revision=True,
        body=RestoreVersionRequest,
        body_examples=example("default", "The first version", {"version": 1}),
        response=DraftItem,
        response_example=_DRAFT,
        errors=("version_not_found", "rate_limit_exceeded"),
    ),
    _write(
        id="duplicate_template",
        route=f"POST {_OF_ONE}/duplicate",
        summary="Duplicate a template",
        description="Begins a template with the draft of this one.",
        response=DraftItem,
        status=201,
        response_example=_DRAFT
        | {"name": "Copy of Receipt", "version": 0, "revision": 1}
        | {"changes": 1, "publishedVersion": None},
        errors=("template_limit_exceeded", "rate_limit_exceeded"),
    ),
    _operation(
        id="test_template",
        scope=TEMPLATES_WRITE,
        security=(SESSION,),
        takes_account=False,
        route=f"POST {_OF_ONE}/test",
        summary="Send a test",
        description="Sends the draft to a member of the account. The email counts like any other."
        " If the account has no sender yet, it comes from the service's own address."
        " Its tag `test` has the template's id.",
        body=TestTemplateRequest,
        body_examples=example("default", "To oneself", {"to": _BY, "variables": _SAMPLES["ada"]}),
        response=SendResult,
        response_example={"messageId": _ID, "status": "queued", "from": "post@shop.example"},
        errors=(
            "invalid_recipient",
            "recipient_not_allowed",
            "recipient_suppressed",
            "sending_paused",
            "daily_limit_exceeded",
            "monthly_limit_exceeded",
        ),
    ),
)
