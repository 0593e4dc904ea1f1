"""The shape of what the dashboard's first page shows of an account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pillarbox.http.messages.replies import View, taken_from
from pillarbox.http.messages.views import StarterItem
from pillarbox.http.webhooks.replies import WebhookItem

if TYPE_CHECKING:
    from pillarbox.http.accounts.replies import AccountDetail
    from pillarbox.http.json_types import Timestamp, Uuid


class NamedKey(View):
    """An API key by its name."""

    id: str = taken_from("key_id")
    name: str
    revoked_at: Timestamp | None
    """Null while the key works."""


class NamedTemplate(View):
    """A saved template by its name."""

    id: Uuid = taken_from("template_id")
    name: str


class Overview(View):
    """An account, and what it has."""

    account: AccountDetail
    emails: int
    """How many emails it has."""
    keys: list[NamedKey]
    """The oldest first, also the last 400 revoked ones. None for a role that may not list them."""
    starter_templates: list[StarterItem] = taken_from("starter_templates", StarterItem)
    templates: list[NamedTemplate]
    """All saved templates, the newest first."""
    webhooks: list[WebhookItem] = taken_from("webhooks", WebhookItem)
    """The oldest first."""
