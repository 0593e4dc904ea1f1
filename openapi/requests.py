"""The shapes of requests: the wire models' own schemas, and what only validators know beside them.

A model gives names, types and lengths; the tables here add a description for
each field and the rules that pydantic does not write into a schema.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from pillarbox.domain.attachment import ALLOWED_TYPES, MAX_ATTACHMENTS
from pillarbox.domain.mail import MAX_RECIPIENTS
from pillarbox.http.models import (
    AttachmentModel,
    PreviewRequest,
    SendBatchRequest,
    SendEmailRequest,
)
from pillarbox.http.query import AnalyticsQuery, MessagesQuery, TemplatesQuery
from pillarbox.rendering.starters import all_starters

#: `pillarbox.domain.header_text`, as ECMA-262 writes it.
HEADER_TEXT: Final = r"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$"
FILENAME: Final = HEADER_TEXT.replace("[^", r"[^/\\", 1)
#: RFC 4648 section 4 with zero trailing bits: `pillarbox.domain.attachment.is_canonical_base64`.
BASE64: Final = (
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"
)
CONTENT_ID: Final = "^[!-;=?-~]+$"

SLUGS: Final = [starter.slug for starter in all_starters()]
ADDRESS: Final = {"type": "string", "format": "email"}
_ADDRESSES: Final = {"type": "array", "items": ADDRESS, "maxItems": MAX_RECIPIENTS}

_MOMENT: Final = "Without an offset it is UTC."

#: What is said of a field, merged over what its model says.
FIELDS: Final[Mapping[type[BaseModel], Mapping[str, Mapping[str, Any]]]] = {
    SendEmailRequest: {
        "to": {
            "description": f"One address or several; with cc and bcc at most {MAX_RECIPIENTS}.",
            "anyOf": [ADDRESS, _ADDRESSES | {"minItems": 1}],
            "examples": ["ada@customer.example"],
        },
        "starterTemplate": {
            "description": "A built-in template.",
            "enum": SLUGS,
        },
        "templateId": {
            "description": "A saved template. Not for preview keys.",
            "format": "uuid",
        },
        "html": {"description": "The body as it is, with a subject. Not for preview keys."},
        "variables": {
            "description": "Values for the template; at most 256 KB and 8 levels.",
            "type": "object",
            "additionalProperties": True,
        },
        "subject": {
            "description": "Required with html; with a template it replaces the template's own.",
            "pattern": HEADER_TEXT,
        },
        "fromName": {"description": "The sender's display name.", "pattern": HEADER_TEXT},
        "from": {
            "description": "A verified sender of the account; free plans ignore it.",
            "format": "email",
        },
        "cc": {"description": "Carbon copies.", **_ADDRESSES},
        "bcc": {"description": "Blind copies.", **_ADDRESSES},
        "replyTo": {"description": "Where answers go.", "format": "email"},
        "brandName": {"description": "Shown at the head of templates.", "pattern": HEADER_TEXT},
        "logoUrl": {
            "description": "An https: address; the service never fetches it.",
            "format": "uri",
            "pattern": "^https://",
        },
        "attachments": {
            "description": "Each at most 5 MB, all at most 10 MB, decoded.",
            "maxItems": MAX_ATTACHMENTS,
        },
    },
    AttachmentModel: {
        "filename": {"description": "A name without a path.", "pattern": FILENAME},
        "contentType": {
            "description": "The type of the file (RFC 6838), without parameters.",
            "enum": sorted(ALLOWED_TYPES),
        },
        "content": {
            "description": "The file's bytes in base64 (RFC 4648 section 4), padded.",
            "contentEncoding": "base64",
            "pattern": BASE64,
        },
        "inline": {"description": "Whether the HTML shows it, as cid:<contentId>."},
        "contentId": {
            "description": "Required with inline, else left out; differs within a mail.",
            "minLength": 1,
            "pattern": CONTENT_ID,
        },
    },
    SendBatchRequest: {
        "messages": {
            "description": "At most 1,000 recipients together. Each is accepted or not by itself.",
            "items": {"$ref": "#/components/schemas/SendEmailRequest"},
            "maxItems": 100,
        },
    },
    PreviewRequest: {
        "variables": {
            "description": "Merged over the template's samples.",
            "type": "object",
            "additionalProperties": True,
        },
    },
    MessagesQuery: {
        "from": {"description": f"Messages created at or after. {_MOMENT}", "format": "date-time"},
        "to": {"description": "Messages created before; after from.", "format": "date-time"},
        "status": {"description": "Messages of this status."},
        "skip": {"description": "How many to leave out at the start."},
        "limit": {"description": "How many to give at most."},
        "sortBy": {"description": "What descends."},
    },
    AnalyticsQuery: {
        "from": {
            "description": f"Start of the window, inclusive. {_MOMENT}",
            "examples": ["2026-01-01T00:00:00Z"],
        },
        "to": {
            "description": "End of the window, exclusive; after from.",
            "examples": ["2026-02-01T00:00:00Z"],
        },
        "bucket": {"description": "What volume is counted by."},
    },
    TemplatesQuery: {
        "skip": {"description": "How many to leave out at the start."},
        "limit": {"description": "How many to give at most."},
    },
}

_MODES: Final = ("starterTemplate", "templateId", "html")

#: What holds between fields. Within `allOf`, so that a generator of clients still sees one object.
RULES: Final[Mapping[type[BaseModel], Mapping[str, Any]]] = {
    SendEmailRequest: {
        "description": "Exactly one of starterTemplate, templateId and html is given."
        " A field that is null counts as left out.",
        "allOf": [
            {
                "oneOf": [
                    {
                        "title": title,
                        "required": list(names),
                        "properties": {
                            name: {"type": "string" if name in names else "null"}
                            for name in (*names, *_MODES)
                        },
                    }
                    for title, names in {
                        "by starter template": ("starterTemplate",),
                        "by saved template": ("templateId",),
                        "by HTML": ("html", "subject"),
                    }.items()
                ]
            }
        ],
    },
    AttachmentModel: {
        "description": "A file of a mail. It is not stored beyond the delivery.",
        "allOf": [
            {
                "if": {"properties": {"inline": {"const": True}}, "required": ["inline"]},
                "then": {
                    "properties": {"contentId": {"type": "string"}},
                    "required": ["contentId"],
                },
                "else": {"properties": {"contentId": {"type": "null"}}},
            }
        ],
    },
    SendBatchRequest: {"description": "Up to 100 mails."},
    PreviewRequest: {"description": "Values to try the template with."},
}


def enriched(model: type[BaseModel], schema: dict[str, Any]) -> dict[str, Any]:
    """A model's schema with what the tables say of it.

    Raises:
        KeyError: a field has no description here, or one here is none of the model's.
    """
    properties = schema["properties"]
    said = FIELDS[model]
    if unknown := said.keys() - properties.keys():
        raise KeyError(f"{model.__name__} has no {unknown}")
    schema["properties"] = {name: _merged(plain, said[name]) for name, plain in properties.items()}
    return {**schema, **RULES.get(model, {})}


def _merged(plain: dict[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said belongs to the value; null stands beside it."""
    about = {name: said[name] for name in ("description", "examples") if name in said}
    rules = {name: value for name, value in said.items() if name not in about}
    branches = plain.get("anyOf", [])
    if {"type": "null"} not in branches:
        if "anyOf" in rules:
            plain = {}
        return plain | rules | about
    (value,) = (branch for branch in branches if branch != {"type": "null"})
    return {"anyOf": [value | rules, {"type": "null"}]} | about
