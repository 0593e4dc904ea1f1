"""Which budget counts the calls of each operation: no operation is without one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Budget:
    """What limits some operations, and who is refused above it."""

    most: str
    operations: tuple[str, ...]


#: By the name of the count, where the service counts itself. `requests` is what all routes have:
#: who names an operation there says that one call costs little.
BUDGETS: Final[Mapping[str, Budget]] = {
    "quota": Budget(
        "emails of the account in a minute, day and month, and twice as many refused or rehearsed"
        " ones in a minute",
        (
            *("send_email", "send_batch", "create_attachment", "resend_message", "test_template"),
            *("answer_received", "mcp"),
        ),
    ),
    "render": Budget(
        "120 sources of the account compiled or rendered in a minute",
        ("render_template", "publish_template", "test_template", "mcp"),
    ),
    "draft": Budget(
        "240 drafts of the account in a minute",
        ("create_template", "save_draft", "restore_version", "duplicate_template"),
    ),
    "slow": Budget(
        "60 requests of the account in a minute, together",
        (
            *("get_domain", "restart_domain", "add_sender", "add_suppressions", "change_alerts"),
            *("test_alerts", "create_webhook", "change_webhook", "get_kept_content"),
            *("get_held_content", "remove_suppression", "change_domain"),
            "get_received",
        ),
    ),
    "post": Budget(
        "60 posts of the account in a minute", ("test_webhook", "replay_webhook_delivery")
    ),
    "replayed": Budget("one in a minute for each endpoint", ("replay_webhook_events",)),
    "rescheduled": Budget("50 for each message", ("reschedule_message",)),
    "domains": Budget("20 domains of the account in a day", ("add_domain",)),
    "domain-link": Budget("10 of the account's links in a minute", ("open_domain_link",)),
    "keys": Budget("50 management keys of the account in a day", ("create_key",)),
    "invitations": Budget(
        "15 of the account in a day, 5 without a verified sender, and three to one address",
        ("invite_member",),
    ),
    "tokens": Budget("60 of the user in a minute", ("create_access_token",)),
    "codes": Budget(
        "15 of the address in an hour and 20 of the network, and five tries of each code",
        ("request_code", "sign_in", "request_preview_code", "issue_preview_key"),
    ),
    "passkeys": Budget(
        "60 tries of the user in an hour, and 200 of the network",
        ("add_passkey", "sign_in_with_passkey"),
    ),
    "accounts": Budget("5 of the network in a day, after a proof of work", ("sign_up",)),
    "operators": Budget(
        "calls of the operators of the service, whom it trusts",
        (
            *("list_accounts", "create_operated_account", "get_operated_account"),
            *("change_operated_account", "delete_operated_account", "suspend_account"),
            *("resume_account", "get_rates", "list_queues", "redrive_queue", "list_sign_ups"),
            *("approve_sign_up", "refuse_sign_up", "run_checks"),
        ),
    ),
    "requests": Budget(
        "the requests a second of the route, and with a firewall those of an address and"
        " a key in a minute; one call reads or changes a bounded number of records",
        (
            *("mcp", "list_messages", "get_analytics", "get_message", "cancel_message", "get_me"),
            *("release_message", "list_starter_templates", "preview_starter_template"),
            *("list_templates", "get_template", "delete_template", "list_drafts", "get_draft"),
            *("list_versions", "get_version", "list_domains", "remove_domain", "share_domain"),
            *("end_domain_link", "list_senders", "set_default_sender", "remove_sender"),
            *("look_at_link", "list_sessions", "end_sessions", "end_session", "list_passkeys"),
            *("begin_passkey_sign_in", "begin_passkey", "remove_passkey", "get_sign_up"),
            *("request_preview_challenge", "report_preview_mail", "list_keys", "revoke_key"),
            *("create_key", "add_suppressions", "list_suppressions", "list_members"),
            *("change_member", "remove_member", "accept_invitation"),
            *(
                "decline_invitation",
                "get_overview",
                "get_account",
                "change_account",
                "resume_sending",
            ),
            *("get_alerts", "get_account_log", "list_webhooks", "get_webhook", "delete_webhook"),
            *("rotate_webhook_secret", "list_webhook_deliveries", "list_received"),
        ),
    ),
}


def budget_rows() -> list[str]:
    """Return the rows of the table of all budgets; that of the routes' rate does not name each."""
    named = {
        name: "`mcp` and every other operation"
        if name == "requests"
        else ", ".join(f"`{one}`" for one in budget.operations)
        for name, budget in BUDGETS.items()
    }
    return [f"| {BUDGETS[name].most} | {operations} |" for name, operations in named.items()]
