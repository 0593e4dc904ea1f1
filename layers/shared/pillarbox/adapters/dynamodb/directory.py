"""Keys, accounts, suppressions and templates, in one BatchGetItem."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.attributes import Item
from pillarbox.adapters.dynamodb.records import account_of, key_of, template_of
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.application.ports import Directory, Found, Question


class DynamoDirectory(Directory):
    """Fulfils `ports.Directory`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def look_up_all(self, questions: Sequence[Question]) -> list[Found]:
        """Read what several questions ask for, each item once: DynamoDB takes no key twice."""
        wanted = {_name(key): key for question in questions for key in _keys(question)}
        items = self._table.get_all(list(wanted.values()))
        found = {(item["pk"], item["sk"]): item for item in items}
        return [_answer(question, found) for question in questions]


def _keys(question: Question) -> Iterator[Item]:
    account_id = question.account_id
    yield keys.account(account_id)
    if question.key_digest is not None:
        yield keys.api_key(question.key_digest)
    for template_id in question.template_ids:
        yield keys.template(account_id, template_id)
    for mailbox in sorted(question.addresses):
        yield keys.suppression(account_id, mailbox)


def _answer(question: Question, found: Mapping[tuple[str, str], dict[str, Any]]) -> Found:
    def item(key: Item) -> dict[str, Any] | None:
        return found.get(_name(key))

    account_id = question.account_id
    account = item(keys.account(account_id))
    key = item(keys.api_key(question.key_digest)) if question.key_digest else None
    return Found(
        key=key_of(key) if key else None,
        account=account_of(account) if account else None,
        suppressed={
            mailbox: entry["reason"]
            for mailbox in question.addresses
            if (entry := item(keys.suppression(account_id, mailbox)))
        },
        templates={
            template_id: template_of(entry)
            for template_id in question.template_ids
            if (entry := item(keys.template(account_id, template_id)))
        },
    )


def _name(key: Item) -> tuple[str, str]:
    return key["pk"]["S"], key["sk"]["S"]
