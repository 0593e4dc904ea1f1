"""Every operation of the API (contract section 4): what its function declares, and examples."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final

from openapi import examples
from openapi.account_operations import ACCOUNT, KEYS, MEMBERS, SUPPRESSIONS
from openapi.domain_operations import DOMAINS
from openapi.operation import Operation
from openapi.operator_operations import OPERATOR
from openapi.session_operations import SESSIONS
from openapi.template_operations import TEMPLATE_EDITOR
from openapi.webhook_operations import WEBHOOKS
from pillarbox.http.callers import KEY, Callers
from pillarbox.rendering.starters import all_starters

_FUNCTIONS: Final = Path(__file__).parents[1] / "functions"
_of_emails: Final[partial[dict[str, Any]]] = partial(dict, tag="Emails")
_starters: Final[partial[dict[str, Any]]] = partial(dict, tag="Starter templates")
_saved: Final[partial[dict[str, Any]]] = partial(dict, tag="Saved templates")

#: The tags, budgets, examples and links of all operations, in the order of the document.
_SHOWN: Final[tuple[dict[str, Any], ...]] = (
    _of_emails(
        id="list_messages",
        response_example=examples.MESSAGES,
        links={"get_message": {"message_id": "$response.body#/items/0/messageId"}},
    ),
    _of_emails(id="get_analytics", response_example=examples.ANALYTICS),
    _of_emails(
        id="send_email",
        budgets=("quota",),
        body_examples=examples.SENDS,
        response_example=examples.SENT,
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    _of_emails(
        id="send_batch",
        budgets=("quota",),
        body_examples=examples.BATCHES,
        response_example=examples.BATCH_SENT,
        links={"get_message": {"message_id": "$response.body#/results/0/messageId"}},
    ),
    _of_emails(
        id="create_attachment",
        budgets=("quota",),
        body_examples=examples.UPLOADS,
        response_example=examples.UPLOAD,
    ),
    _of_emails(id="get_message", response_example=examples.MESSAGE),
    _of_emails(
        id="reschedule_message",
        budgets=("rescheduled",),
        body_examples=examples.RESCHEDULED,
        response_example=examples.SCHEDULED_MESSAGE,
    ),
    _of_emails(
        id="cancel_message", budgets=("requests",), response_example=examples.CANCELED_MESSAGE
    ),
    _of_emails(
        id="release_message", budgets=("requests",), response_example=examples.RELEASED_MESSAGE
    ),
    _of_emails(id="get_held_content", budgets=("slow",), response_example=examples.HELD_CONTENT),
    _of_emails(
        id="resend_message",
        budgets=("quota",),
        body_examples=examples.RESENDS,
        response_example=examples.SENT,
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    _of_emails(id="get_kept_content", budgets=("slow",), response_example=examples.CONTENT),
    _of_emails(
        id="list_received",
        response_example={"items": [examples.RECEIVED], "nextCursor": None},
        links={"get_received": {"received_id": "$response.body#/items/0/receivedId"}},
    ),
    _of_emails(id="get_received", budgets=("slow",), response_example=examples.RECEIVED_CONTENT),
    _of_emails(
        id="answer_received",
        budgets=("quota",),
        body_examples={"text": {"summary": "A text", "value": {"text": "It is on its way."}}},
        response_example=examples.SENT,
        links={"get_message": {"message_id": "$response.body#/messageId"}},
    ),
    {"id": "get_me", "tag": "API key", "response_example": examples.CALLER},
    {
        "id": "mcp",
        "tag": "Agents",
        "budgets": ("quota", "render", "requests"),
        "body_examples": examples.RPC_REQUESTS,
        "response_example": examples.RPC_RESPONSE,
    },
    _starters(
        id="list_starter_templates",
        response_example=examples.STARTERS,
        links={"preview_starter_template": {"slug": "$response.body#/0/slug"}},
    ),
    _starters(
        id="preview_starter_template",
        budgets=("requests",),
        body_examples=examples.PREVIEWS,
        response_example=examples.PREVIEW,
    ),
    _saved(
        id="list_templates",
        response_example=examples.TEMPLATES,
        links={
            "get_template": {"id": "$response.body#/items/0/id"},
            "delete_template": {"id": "$response.body#/items/0/id"},
        },
    ),
    _saved(id="get_template", response_example=examples.TEMPLATE),
    _saved(id="delete_template", budgets=("requests",)),
    *DOMAINS,
    *TEMPLATE_EDITOR,
    *SESSIONS,
    *KEYS,
    *SUPPRESSIONS,
    *MEMBERS,
    *ACCOUNT,
    *OPERATOR,
    *WEBHOOKS,
)


def _declared() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the id of each operation, and what its function declares."""
    for path in sorted(_FUNCTIONS.glob("*/app.py")):
        if "@route(" not in path.read_text(encoding="utf-8"):
            continue
        for name, run in _names_in(path).items():
            if declared := getattr(run, "operation", None):
                rule, callers, fields = declared
                types = {
                    field: resolve_name(fields[field])
                    for field in ("body", "response")
                    if isinstance(fields.get(field), str)
                }
                given = callers or Callers((KEY,))
                names = ("security", "scope", "takes_account")
                whose = {field: getattr(given, field) for field in names}
                text = {"function": path.parent.name, **_text_of(run)}
                yield name, {"route": rule, **whose, **text, **fields, **types}


def _names_in(path: Path) -> dict[str, Any]:
    """Load the module of a function, and return its names."""
    spec = importlib.util.spec_from_file_location(f"operations_of_{path.parent.name}", path)
    if not (spec and spec.loader):
        raise ImportError(path.name)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def _text_of(run: object) -> dict[str, Any]:
    """Return the summary, the description, and the codes of the last part, `Errors: …`."""
    summary, *parts = [" ".join(part.split()) for part in (inspect.getdoc(run) or "").split("\n\n")]
    errors = re.findall(r"`(\w+)`", parts.pop()) if parts[-1].startswith("Errors: ") else ()
    return {
        "summary": summary.removesuffix("."),
        "description": "\n\n".join(parts),
        "errors": tuple(errors),
    }


def _variables_table() -> str:
    """Return a table of what each starter needs and may have."""
    rows = ["| Starter | needs | may have |", "|---|---|---|"]
    for starter in all_starters():
        every = (*starter.variables, *starter.optional)
        needs, may_have = (
            ", ".join(f"`{one.name}`" for one in every if one.required is required)
            for required in (True, False)
        )
        rows.append(f"| `{starter.slug}` | {needs} | {may_have} |")
    return "\n".join(rows)


def _operations() -> Iterator[Operation]:
    declared = dict(_declared())
    for shown in _SHOWN:
        fields = declared.pop(shown["id"]) | shown
        if fields["id"] == "list_starter_templates":
            first, rest = fields["description"].split("\n\n")
            fields["description"] = f"{first}\n\n{_variables_table()}\n\n{rest}"
        yield Operation(**fields)
    if declared:
        raise ValueError(f"no examples of {[*declared]}")


OPERATIONS: Final = tuple(_operations())

#: Path -> its methods, in the order of the operations.
METHODS_BY_PATH: Final[Mapping[str, tuple[str, ...]]] = {
    operation.path: tuple(
        other.method.upper() for other in OPERATIONS if other.path == operation.path
    )
    for operation in OPERATIONS
}
