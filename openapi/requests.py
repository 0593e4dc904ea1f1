"""The shapes of requests: the schemas of the wire models, with texts and rules added.

A model gives names, types and lengths, and its docstrings are the descriptions. Pydantic does not
write rules that only validators know into a schema: those of a field stand with it, and those
between fields are here.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from openapi.views import texts_of
from pillarbox.application.validation import MAX_NAME
from pillarbox.domain.messages.attachment import ALLOWED_TYPES, CONTENT_TYPE_PATTERN
from pillarbox.domain.messages.mail import MAX_HEADERS, MAX_HEADERS_BYTES
from pillarbox.domain.messages.mail import NAMES as HEADER_NAMES
from pillarbox.domain.messages.message import MAX_TAGS, MAX_TAGS_BYTES, MAX_VALUE, TAG_NAME
from pillarbox.http.accounts.wire import AddSuppressionsRequest
from pillarbox.http.messages.changes import AnswerRequest
from pillarbox.http.messages.wire import (
    LOCALE_PATTERN,
    MAX_LOCALE,
    AttachmentModel,
    RenderStarterRequest,
    SendBatchRequest,
    SendEmailRequest,
)
from pillarbox.http.sign_in.wire import SignInRequest
from pillarbox.http.templates.wire import MAX_LOCALES, MAX_SETS
from pillarbox.http.wire import HEADER_TEXT, WireField, WireModel, fields_of
from pillarbox.rendering.starters import all_starters

#: Schemas that generated clients show as types with these names.
NAMED: Final[Mapping[str, Mapping[str, Any]]] = {
    "AttachmentType": {
        "description": "A type of file that an email may have (RFC 6838): "
        + ", ".join(sorted(ALLOWED_TYPES))
        + ". A `charset` may follow, and the `method` of a calendar. Without them a text in UTF-8"
        " gets `charset=utf-8`, and a calendar gets the method of its METHOD line.",
        "type": "string",
        "pattern": CONTENT_TYPE_PATTERN,
    },
    "Samples": {
        "description": "Values for previews, by the names of their sets: at most 64 KB.",
        "type": "object",
        "maxProperties": MAX_SETS,
        "propertyNames": {"minLength": 1, "maxLength": MAX_NAME},
        "additionalProperties": {"type": "object"},
    },
    "StarterSlug": {
        "description": "A starter template.",
        "type": "string",
        "enum": [starter.slug for starter in all_starters()],
    },
    "TemplateLocales": {
        "description": "Subject, body and text part for each locale, by its language tag (RFC 5646)"
        " in any case.",
        "type": "object",
        "maxProperties": MAX_LOCALES,
        "propertyNames": {"pattern": LOCALE_PATTERN, "maxLength": MAX_LOCALE},
        "additionalProperties": {"$ref": "#/components/schemas/LocaleModel"},
    },
    "Tags": {
        "description": "Names and values by which you find an email again. They are not delivered."
        f" They have at most {MAX_TAGS_BYTES} bytes in all. A value has no blank at either end.",
        "type": "object",
        "maxProperties": MAX_TAGS,
        "propertyNames": {"pattern": TAG_NAME},
        "additionalProperties": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_VALUE,
            "pattern": HEADER_TEXT,
        },
        "examples": [{"order": "10442"}],
    },
    "Headers": {
        "description": f"Header fields: {', '.join(HEADER_NAMES)}, and names that begin with X-."
        f" They have at most {MAX_HEADERS_BYTES} bytes in all. Only X-… may have more than ASCII.",
        "type": "object",
        "maxProperties": MAX_HEADERS,
        "propertyNames": {"pattern": f"^({'|'.join(HEADER_NAMES)}|[Xx]-[A-Za-z0-9_-]{{1,62}})$"},
        "additionalProperties": {"type": "string", "minLength": 1, "pattern": HEADER_TEXT},
        "examples": [{"X-Entity-Ref-ID": "receipt-10442"}],
    },
    "Variables": {
        "description": "Values for a template, by name.",
        "type": "object",
        "additionalProperties": True,
    },
}
STARTER_SLUG: Final = {"$ref": "#/components/schemas/StarterSlug"}


def _one_of(
    branches: Mapping[str, tuple[str, ...]],
    fields: Iterable[str],
    **shapes: Any,  # noqa: ANN401  JSON
) -> Mapping[str, Any]:
    """Return the rule that some fields are given, of one branch, and the others are not.

    Args:
        branches: title -> the fields that are given.
        fields: those of which the other branches' are null.
        shapes: the schemas of fields that are no texts.
    """
    return {
        "allOf": [
            {
                "anyOf": [
                    {
                        "title": title,
                        "required": list(given),
                        "properties": {
                            name: shapes.get(name, {"type": "string"})
                            if name in given
                            else {"type": "null"}
                            for name in dict.fromkeys((*fields, *given))
                        },
                    }
                    for title, given in branches.items()
                ]
            }
        ]
    }


#: Rules between fields. They are within `allOf`, so that client generators still see one object.
#: No two branches of an `anyOf` fit the same value. It is not `oneOf`, because linters see only
#: branches that require the same fields as exclusive.
RULES: Final[Mapping[type[WireModel], Mapping[str, Any]]] = {
    SendEmailRequest: {
        "description": "Give exactly one of `starterTemplate`, `templateId` and `html`, or `text`"
        " alone with `subject`. Null means the same as leaving a field out.",
        **_one_of(
            {
                "by starter template": ("starterTemplate",),
                "by saved template": ("templateId",),
                "by HTML": ("html", "subject"),
                "by text": ("text", "subject"),
            },
            ("starterTemplate", "templateId", "html"),
        ),
    },
    AttachmentModel: {
        "description": "A file in an email, with its content or by the id of its upload. The"
        " content is not kept after the delivery.",
        "allOf": [
            {
                "anyOf": [
                    {
                        "title": "with its content",
                        "required": ["filename", "content"],
                        "properties": {
                            "attachmentId": {"type": "null"},
                            "filename": {"type": "string"},
                            "content": {"type": "string"},
                        },
                    },
                    {
                        "title": "uploaded before",
                        "required": ["attachmentId"],
                        "properties": {
                            "attachmentId": {"type": "string"},
                            "filename": {"type": "null"},
                            "contentType": {"type": "null"},
                            "content": {"type": "null"},
                        },
                    },
                ]
            },
            {
                "anyOf": [
                    {
                        "title": "shown by the HTML",
                        "required": ["inline", "contentId"],
                        "properties": {
                            "inline": {"type": "boolean", "const": True},
                            "contentId": {"type": "string"},
                        },
                    },
                    {
                        "title": "listed by the mail client",
                        "properties": {
                            "inline": {"type": "boolean", "const": False},
                            "contentId": {"type": "null"},
                        },
                    },
                ]
            },
        ],
    },
    SendBatchRequest: {"description": "Up to 100 emails."},
    RenderStarterRequest: {"description": "Values for the preview."},
    AnswerRequest: {
        **_one_of({"with a text": ("text",), "by HTML alone": ("html",)}, ("text",)),
    },
    SignInRequest: {
        **_one_of({"by code": ("flow", "code"), "by link": ("link",)}, ("flow", "code", "link")),
    },
    AddSuppressionsRequest: {
        **_one_of(
            {"one": ("address",), "many": ("addresses",)},
            ("address", "addresses"),
            addresses={"type": "array", "items": {}},
        ),
    },
}


def enriched(model: type[WireModel], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a model with its texts and rules."""
    properties = schema["properties"]
    for attribute, field in fields_of(model).items():
        described = described_field(model, attribute)
        if not described:
            raise ValueError(f"{model.__name__} says nothing of {attribute}")
        properties[field.name] = merged(properties[field.name], described)
    described = {} if model.in_query else {"description": model.__doc__}
    return {**schema, **described, **RULES.get(model, {})}


def described_field(model: type[WireModel], attribute: str) -> dict[str, Any]:
    """Return the text and the rules of a field, from the nearest class that has some for it."""
    for base in model.__mro__:
        field, text = vars(base).get(attribute), texts_of(base).get(attribute)
        rules = dict(field.rules) if isinstance(field, WireField) else {}
        if named := rules.pop("named", None):
            rules["$ref"] = f"#/components/schemas/{named}"
        if text or rules:
            return rules | ({"description": text} if text else {})
    return {}


def merged(plain: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Merge an entry into the schema of a field; its rules do not apply to null."""
    texts = {name: entry[name] for name in ("description", "examples") if name in entry}
    rules = {name: value for name, value in entry.items() if name not in texts}
    if "$ref" in rules:
        named = {"$ref": rules["$ref"]}
        return ({"anyOf": [named, {"type": "null"}]} if "anyOf" in plain else named) | texts
    branches = plain.get("anyOf", [])
    if {"type": "null"} not in branches:
        if "anyOf" in rules:
            plain = {}
        return plain | rules | texts
    (value,) = (branch for branch in branches if branch != {"type": "null"})
    return {"anyOf": [value | rules, {"type": "null"}]} | texts
