"""The operations of the template editor."""

from functools import partial
from typing import Any, Final

from openapi.operation import example
from pillarbox.domain.accounts.account import MAX_KEEP

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
        }
    ],
}


_of_editor: Final[partial[dict[str, Any]]] = partial(dict, tag="Template editor")

TEMPLATE_EDITOR: Final = (
    _of_editor(
        id="create_template",
        budgets=("draft",),
        body_examples=example(
            "starter",
            "From a starter",
            {"name": "Receipt", "category": "billing", "starterTemplate": "payment_receipt"},
        )
        | example("html", "From HTML", {"name": "Receipt", "category": "billing", "html": _SOURCE}),
        response_example=_ROW
        | {"version": 0, "revision": 1, "changes": 1, "publishedVersion": None}
        | {"source": _SOURCE, "text": None, "keepDays": MAX_KEEP, "locales": {}, "samples": {}},
    ),
    _of_editor(
        id="render_template",
        budgets=("render",),
        body_examples=example(
            "default",
            "A receipt",
            {
                "subject": _CONTENT["subject"],
                **_BODY,
                "variables": _SAMPLES["ada"],
            },
        ),
        response_example=_RENDERED,
    ),
    _of_editor(id="list_drafts", response_example={"items": [_ROW]}),
    _of_editor(id="get_draft", response_example=_DRAFT),
    _of_editor(
        id="save_draft",
        budgets=("draft",),
        body_examples=example("default", "A receipt", {**_CONTENT, **_BODY, "samples": _SAMPLES}),
        response_example=_DRAFT,
    ),
    _of_editor(
        id="publish_template",
        budgets=("render",),
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
                }
            ],
        },
    ),
    _of_editor(id="list_versions", response_example={"items": [_VERSION], "nextCursor": None}),
    _of_editor(id="get_version", response_example=_VERSION | _PARTS | {"html": _SOURCE}),
    _of_editor(
        id="restore_version",
        budgets=("draft",),
        body_examples=example("default", "The first version", {"version": 1}),
        response_example=_DRAFT,
    ),
    _of_editor(
        id="duplicate_template",
        budgets=("draft",),
        response_example=_DRAFT
        | {"name": "Copy of Receipt", "version": 0, "revision": 1}
        | {"changes": 1, "publishedVersion": None},
    ),
    _of_editor(
        id="test_template",
        budgets=("quota", "render"),
        body_examples=example("default", "To oneself", {"to": _BY, "variables": _SAMPLES["ada"]}),
        response_example={"messageId": _ID, "status": "queued", "from": "post@shop.example"},
    ),
)
