"""Keys, accounts, suppressions, templates and quotas, in one BatchGetItem over two tables."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.accounts.suppressions import hashed_reasons
from pillarbox.adapters.dynamodb.messages.quota_refusals import counts_of
from pillarbox.adapters.dynamodb.records import account_of, key_of, template_of
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import DirectoryResult
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox


class DynamoDirectory:
    """Implements `ports.Directory`."""

    def __init__(self, table: Table, credentials: Table | None = None) -> None:
        """Store the tables; a worker reads no keys, and may not read `Credentials`."""
        self._table = table
        self._credentials = credentials

    def look_up(  # noqa: PLR0913  what one read can find
        self,
        account_id: str,
        *,
        key_digest: str | None = None,
        addresses: Iterable[str] = (),
        template_ids: Iterable[UUID] = (),
        quota: bool = False,
        own_quota_id: str | None = None,
        preview: bool = False,
    ) -> DirectoryResult:
        """Read everything with strong consistency, in one round trip.

        Only for an account with suppressions of erased people a second one looks for these.
        """
        mailboxes, templates = set(addresses), set(template_ids)
        requested = [keys.account(account_id)]
        if quota:
            requested.append(keys.quota(account_id))
        own_quota = keys.quota(own_quota_id) if own_quota_id is not None else None
        if own_quota:
            requested.append(own_quota)
        requested += [keys.template(account_id, template_id) for template_id in templates]
        requested += [keys.suppression(account_id, mailbox) for mailbox in sorted(mailboxes)]
        # Several forms of one address have one record.
        stopped = {mailbox: stopped_mailbox(mailbox) for mailbox in mailboxes} if preview else {}
        requested += [keys.suppression(PREVIEW_LIST, one) for one in sorted({*stopped.values()})]
        key_requested = keys.api_key(key_digest) if key_digest is not None else None
        found = self._table.get_all(
            requested,
            (self._credentials, [key_requested]) if self._credentials and key_requested else None,
        )
        items = {(item["pk"], item["sk"]): item for item in found}

        def item(key: dict[str, Any]) -> dict[str, Any] | None:
            return items.get((key["pk"]["S"], key["sk"]["S"]))

        account = item(keys.account(account_id))
        key = item(key_requested) if key_requested else None
        suppressions = {
            mailbox: entry["reason"]
            for mailbox in mailboxes
            if (entry := item(keys.suppression(account_id, mailbox)))
        }
        for mailbox, stop in stopped.items():
            if entry := item(keys.suppression(PREVIEW_LIST, stop)):
                suppressions.setdefault(mailbox, entry["reason"])
        if account and account.get("hashed_suppressions"):
            suppressions = hashed_reasons(self._table, account_id, mailboxes) | suppressions
        return DirectoryResult(
            key=key_of(key) if key else None,
            account=account_of(account) if account else None,
            suppressed=suppressions,
            templates={
                template_id: template_of(entry)
                for template_id in templates
                if (entry := item(keys.template(account_id, template_id)))
            },
            quota=counts_of(item(keys.quota(account_id))),
            own_quota=counts_of(item(own_quota) if own_quota else None),
        )
