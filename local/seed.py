"""The accounts, keys, the template and the webhook endpoint that a local stack starts with."""

from datetime import datetime
from typing import Final

from admin.team import sign_in_url
from admin.wiring import OperatorWiring
from local.keys import LocalKeys
from local.ses.store import MailStore
from pillarbox.application.receiving_ports import ReceivingDomain
from pillarbox.domain.accounts.account import Account, Brand, Plan
from pillarbox.domain.accounts.account_log import COMMAND
from pillarbox.domain.accounts.key import (
    PRESET_SCOPES,
    PREVIEW_SCOPES,
    SCOPES,
    ApiKey,
    KeyType,
    Preset,
    digest_of_key,
)
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import Role
from pillarbox.domain.templates.draft import SourceKind, TemplateContent, TemplateVersion
from pillarbox.domain.templates.template import SavedTemplate
from pillarbox.domain.webhooks.endpoint import ALL_TYPES

#: The default sender of the accounts with a live key.
SENDER: Final = "hello@shop.example"
#: The domain of the Standard account that receives answers.
RECEIVING: Final = "in.shop.example"
#: The owner of the Standard account, who also operates the service.
OWNER: Final = "owner@shop.example"
#: The id of the saved template, the same in each run.
TEMPLATE_ID: Final = "019a0000-0000-7000-8000-000000000001"

_ACCOUNTS: Final = {
    "live": ("Shop", Plan.STANDARD),
    "live_free": ("Hobby", Plan.FREE),
    "preview": ("Visitor", Plan.FREE),
}
#: The key `live` has every scope, so that each route of the reference page can be tried.
_PRESETS: Final = {"live": Preset.CUSTOM, "live_free": Preset.SEND}


def seed(wiring: OperatorWiring, mailbox: MailStore, keys: LocalKeys, receiver: str) -> None:
    """Create a Standard, a free and a preview account with a key each; verify their senders.

    Store the address of the service and make its tenants, as a deployment does.

    The records are written directly, because the use cases make new ids and keys.

    Args:
        wiring: the use cases of the stack.
        mailbox: where the senders' credentials are.
        keys: the keys, which contain the ids of their accounts.
        receiver: the URL to which all webhooks of the Standard account go.
    """
    for address in (SENDER, wiring.settings.preview_sender):
        mailbox.create_identity(address)
    wiring.service_address.store(wiring.settings.api_url)
    now = wiring.accounts.clock()
    for role, account_id in keys.accounts.items():
        name, plan = _ACCOUNTS[role]
        preset = _PRESETS.get(role)
        brand = Brand(from_name=name, action_url="https://shop.example")
        wiring.accounts.records.add(
            Account(
                account_id=account_id,
                name=name,
                plan=plan,
                brand=brand,
                created_at=now,
                reply_domain=RECEIVING if role == "live" else None,
            )
        )
        wiring.api_keys.records.add(
            ApiKey(
                key_id=f"key_{account_id}{new_token(8)}",
                account_id=account_id,
                name="First key",
                type=KeyType.LIVE if preset else KeyType.PREVIEW,
                preset=preset,
                scopes=_scopes(preset),
                digest=digest_of_key(keys.texts[role]),
                created_at=now,
            )
        )
        if preset:
            wiring.senders.add(account_id, SENDER, default=True)
        if role == "live":
            _add_template(wiring, account_id, now)
            wiring.webhooks.create(account_id, receiver, [ALL_TYPES], by=COMMAND)
            wiring.receiving_domains.put(ReceivingDomain(RECEIVING, account_id))
            wiring.receipt_rules.put(RECEIVING)
    if wiring.settings.strangers:
        wiring.account_isolation.prepare_shared()


def sign_in_link(wiring: OperatorWiring, account_id: str) -> str:
    """Return a link that signs the owner of an account in once."""
    wiring.team.add_member(account_id, OWNER, Role.OWNER)
    return sign_in_url(wiring.settings.api_url, wiring.team.new_link(OWNER))


def _scopes(preset: Preset | None) -> frozenset[str]:
    if preset is None:
        return PREVIEW_SCOPES
    return SCOPES if preset is Preset.CUSTOM else PRESET_SCOPES[preset]


def _add_template(wiring: OperatorWiring, account_id: str, now: datetime) -> None:
    content = TemplateContent(
        name="Order shipped",
        subject="Your order {{ order }} is on its way",
        category="orders",
        kind=SourceKind.HTML,
        source="<h1>Hello {{ name }}</h1>\n<p>Your order {{ order }} is on its way.</p>\n",
    )
    template = SavedTemplate(
        account_id=account_id,
        template_id=TEMPLATE_ID,
        name=content.name,
        subject=content.subject,
        category=content.category,
        html=content.source,
        variables=("name", "order"),
        required=("name", "order"),
        internal=False,
        created_at=now,
        updated_at=now,
    )
    version = TemplateVersion(
        account_id=account_id,
        template_id=TEMPLATE_ID,
        version=template.version,
        content=content,
        html=template.html,
        by="operator",
        at=now,
    )
    wiring.template_authoring.records.publish(template, version, unless_changed_since=None)
