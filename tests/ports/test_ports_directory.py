"""Keys, accounts, suppressions and templates: `ports.Directory`, `ports.Suppressions`."""

from types import SimpleNamespace

import pytest

from pillarbox.adapters.dynamodb import keys, records
from pillarbox.adapters.dynamodb.accounts.directory import DynamoDirectory
from pillarbox.adapters.dynamodb.table import Table, from_attribute, to_attribute
from pillarbox.domain.sign_in.preview_key import PREVIEW_LIST, stopped_mailbox
from tests.fakes import builders
from tests.fakes.builders import ACCOUNT, NOW, at
from tests.ports.implementations import Ports


def test_only_preview_mail_is_stopped_by_a_report(ports: Ports) -> None:
    stopped, tagged, bounced = "ann@example.com", "ann+x@example.com", "bob@example.com"
    for mailbox in (stopped, bounced):
        ports.suppressions.put(PREVIEW_LIST, stopped_mailbox(mailbox), "stopped", NOW, None)
    ports.suppressions.put(ACCOUNT, bounced, "bounced", NOW, None)
    addresses = [stopped, tagged, bounced, "eve@example.com"]
    found = ports.directory.look_up(ACCOUNT, addresses=addresses, preview=True)
    assert found.suppressed == {stopped: "stopped", tagged: "stopped", bounced: "bounced"}
    assert ports.directory.look_up(ACCOUNT, addresses=addresses).suppressed == {bounced: "bounced"}


def test_the_first_suppression_stays(ports: Ports) -> None:
    for reason in ("complained", "bounced"):
        ports.suppressions.put(ACCOUNT, "ann@example.com", reason, NOW, None)
    result = ports.directory.look_up(ACCOUNT, addresses=["ann@example.com"])
    assert result.suppressed == {"ann@example.com": "complained"}


def test_more_keys_than_one_call_takes_are_read(ports: Ports, table: Table) -> None:
    """A look-up of more addresses than DynamoDB's limit of 100 keys returns all of them."""
    table.put(records.account_item(builders.account()))
    addresses = {f"a{number}@example.com" for number in range(130)}
    for address in addresses:
        ports.suppressions.put(ACCOUNT, address, "bounced", NOW, None)
    result = ports.directory.look_up(ACCOUNT, addresses=addresses)
    assert result.account == builders.account()
    assert set(result.suppressed) == addresses


def test_the_heartbeat_only_moves_forward(ports: Ports) -> None:
    assert ports.heartbeat().latest() is None
    ports.heartbeat().record(at(60))
    ports.heartbeat().record(at(0))
    assert ports.heartbeat().latest() == at(60)
    ports.heartbeat().record(at(300))
    assert ports.heartbeat().latest() == at(300)


def test_one_process_moves_the_heartbeat(ports: Ports) -> None:
    heartbeat = ports.heartbeat()
    for second in range(0, 600, 7):
        heartbeat.record(at(second))
    last = ports.heartbeat().latest()
    assert last is not None
    assert (at(595) - last).total_seconds() < 60


@pytest.mark.parametrize(
    "value",
    ["", "ü", 0, -5, 10**30, True, None, [], [1, ["x"]], {}, {"a": {"b": None}}, {"x", "y"}],
)
def test_attributes_read_back(value: object) -> None:
    assert from_attribute(to_attribute(value)) == value


def test_other_types_are_refused() -> None:
    """A type that no store writes raises TypeError instead of becoming text."""
    with pytest.raises(TypeError):
        to_attribute(1.5)
    with pytest.raises(TypeError):
        from_attribute({"NS": ["1"]})


def test_a_message_costs_one_write_unit(table: Table) -> None:
    """A record with a name, a subject and two recipients is smaller than 1 KB."""
    message = builders.message(to=("ann.lee@customer.example", "bob@customer.example"))
    table.put(records.message_item(message))
    item = table.get(keys.message(ACCOUNT, message.message_id))
    assert item is not None
    assert sum(len(name) + len(str(value)) for name, value in item.items()) < 700


def test_an_account_without_hashes_needs_one_call(table: Table) -> None:
    directory, calls = DynamoDirectory(table), []
    made = table.client.batch_get_item

    def count(**request: object) -> object:
        calls.append(request)
        return made(**request)  # type: ignore[arg-type]

    vars(table)["client"] = SimpleNamespace(batch_get_item=count)
    for noted, total in ((False, 1), (True, 3)):
        table_item = records.account_item(builders.account(hashed_suppressions=noted))
        Table(table.name).put(table_item)
        directory.look_up(ACCOUNT, addresses=["ann@example.com"])
        assert len(calls) == total
