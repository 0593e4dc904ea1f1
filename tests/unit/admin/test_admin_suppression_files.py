"""Files of suppressions, as spreadsheets see them."""

from io import StringIO

from admin.use_cases.suppression_files import SuppressionFiles
from pillarbox.adapters.dynamodb.accounts.accounts import DynamoAccounts
from pillarbox.adapters.dynamodb.accounts.suppressions import DynamoSuppressions
from pillarbox.adapters.dynamodb.records import account_item
from pillarbox.domain.accounts.suppression import Suppression
from tests.fakes.builders import ACCOUNT, NOW, account
from tests.fakes.engine_tables import EngineTable

_STARTS = ("=", "+", "-", "@", "'=", "''-", "'", "")


def files(*addresses: str) -> SuppressionFiles:
    """Return the files of an account with suppressed addresses."""
    table = EngineTable("table")
    table.put(account_item(account()))
    records = DynamoSuppressions(table)
    for address in addresses:
        records.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
    return SuppressionFiles(
        records=records,
        accounts=DynamoAccounts(table),
        clock=lambda: NOW,
        for_each=lambda work, items: [*map(work, items)],
    )


def exported(source: SuppressionFiles) -> StringIO:
    file = StringIO()
    source.write(ACCOUNT, file, lambda _: None)
    file.seek(0)
    return file


def test_no_exported_cell_is_a_formula() -> None:
    """A cell that begins like one gets an apostrophe; others stay as they are."""
    lines = exported(files(*(f"{start}a@x.example" for start in _STARTS))).readlines()[1:]
    cells = {line.partition(",")[0].partition("a@")[0] for line in lines}
    assert cells == {"'=", "'+", "'-", "'@", "''=", "'''-", "'", ""}


def test_an_import_restores_the_addresses() -> None:
    """What was exported comes back exactly, and an apostrophe before other characters stays."""
    addresses = {f"{start}a@x.example" for start in _STARTS if start != "@"}
    source = files(*addresses)
    assert {entry.address for entry in source.read(exported(source))} == addresses
