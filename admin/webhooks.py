"""The commands `pillarbox webhook …`."""

from typing import Final

import typer

from admin.api_commands import ApiCommand

app = typer.Typer(no_args_is_help=True, help="Webhook endpoints, and the deliveries to them.")

_SAVE: Final = "Save the secret now: it cannot be shown a second time."
_COLUMNS: Final = ("id", "url", "types", "enabled", "failingSince", "disabledReason")
_COMMANDS: Final = {
    "create": ApiCommand(
        operation_id="create_webhook",
        arguments=("url",),
        options={"types": "--type"},
        defaults={"types": ["*"]},
        hint=_SAVE,
    ),
    "list": ApiCommand(operation_id="list_webhooks", columns=_COLUMNS),
    "show": ApiCommand(operation_id="get_webhook"),
    "change": ApiCommand(
        operation_id="change_webhook",
        options={"types": "--type", "enabled": "--enable/--disable"},
    ),
    "remove": ApiCommand(
        operation_id="delete_webhook", question="Remove the endpoint {endpoint_id}?"
    ),
    "rotate": ApiCommand(operation_id="rotate_webhook_secret", hint=_SAVE),
    "test": ApiCommand(operation_id="test_webhook"),
    "deliveries": ApiCommand(
        operation_id="list_webhook_deliveries",
        columns=("id", "at", "type", "status", "nextAttemptAt"),
    ),
    "redeliver": ApiCommand(operation_id="replay_webhook_delivery"),
    "replay": ApiCommand(
        operation_id="replay_webhook_events",
        options={"from": "--since", "to": "--until", "types": "--type"},
    ),
}
for _verb, _operation in _COMMANDS.items():
    _operation.add_to(app, "webhook", _verb)
