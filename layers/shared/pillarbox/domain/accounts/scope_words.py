"""What each permission of a key allows, in words for people."""

from collections.abc import Iterable, Mapping
from typing import Final

from pillarbox.domain.accounts import key

#: Each completes the sentence "This key may …".
SCOPE_WORDS: Final[Mapping[str, str]] = {
    key.EMAILS_SEND: "send emails",
    key.EMAILS_READ: "look up emails and their figures",
    key.EMAILS_CONTENT: "read the kept content of emails",
    key.RECEIVED_READ: "read received mail",
    key.TEMPLATES_READ: "read published templates",
    key.TEMPLATES_WRITE: "delete templates",
    "marketing:campaigns:read": "read campaigns",
    "marketing:campaigns:write": "change campaigns",
    "marketing:contacts:read": "read contacts",
    "marketing:contacts:write": "change contacts",
    key.WEBHOOKS_READ: "see webhook endpoints and what they received",
    key.WEBHOOKS_WRITE: "add, change and remove webhook endpoints",
    key.DRAFTS_READ: "read the drafts and versions of templates",
    key.DRAFTS_WRITE: "write and publish templates",
    key.DOMAINS_READ: "see domains, their DNS records and senders",
    key.DOMAINS_WRITE: "add and remove domains",
    key.SENDERS_WRITE: "add and remove senders, and choose the default",
    key.SUPPRESSIONS_READ: "see which addresses get no email",
    key.SUPPRESSIONS_WRITE: "change which addresses get no email",
    key.MEMBERS_READ: "see the members",
    key.MEMBERS_WRITE: "invite, change and remove members",
    key.ACCOUNT_READ: "see the account, its brand and its log",
    key.ACCOUNT_WRITE: "change the name, the brand, the retention and the alerts of the account",
    key.KEYS_READ: "see the API keys",
    key.KEYS_WRITE: "create API keys that may do no more than it, and revoke keys",
    key.ACCOUNTS_READ: "see every account of the service",
    key.ACCOUNTS_WRITE: "create, change, suspend and delete accounts",
}


def words_of(scopes: Iterable[str]) -> list[str]:
    """Return what permissions allow, in the order of the table."""
    given = {*scopes}
    return [words for scope, words in SCOPE_WORDS.items() if scope in given]
