"""The accounts that a local stack starts with, created by the operator's use cases."""

from dataclasses import dataclass
from typing import Final

from admin.wiring import OperatorWiring
from local.ses.store import MailStore
from pillarbox.domain.account import Plan
from pillarbox.domain.key import Preset

#: The default sender of the accounts with a live key.
SENDER: Final = "hello@shop.example"


@dataclass(frozen=True, slots=True)
class SeededAccounts:
    """The API keys and account ids that were created, by role: `live`, `live_free`, `preview`."""

    keys: dict[str, str]
    accounts: dict[str, str]


def seed(wiring: OperatorWiring, mailbox: MailStore) -> SeededAccounts:
    """Create a Standard, a free and a preview account with a key each; verify their senders."""
    for address in (SENDER, wiring.settings.preview_sender):
        mailbox.create_identity(address)
    keys, accounts = {}, {}
    for role, name, plan in (("live", "Shop", Plan.STANDARD), ("live_free", "Hobby", Plan.FREE)):
        accounts[role] = wiring.accounts.create(name, plan).account_id
        wiring.senders.add(accounts[role], SENDER, default=True)
        issued = wiring.api_keys.issue_live(accounts[role], "First key", Preset.SEND)
        keys[role] = issued.text
    accounts["preview"] = wiring.accounts.create("Visitor", Plan.FREE).account_id
    keys["preview"] = wiring.api_keys.issue_preview(accounts["preview"], "First key").text
    return SeededAccounts(keys, accounts)
