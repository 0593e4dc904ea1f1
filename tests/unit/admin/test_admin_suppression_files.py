"""Files of suppressions, as spreadsheets see them."""

from io import StringIO

from admin.use_cases.suppression_files import SuppressionFiles
from pillarbox.domain.accounts.account import Account, Plan
from pillarbox.domain.accounts.suppression import Suppression
from tests.unit.admin.fakes import ACCOUNT, NOW, FakeAccounts, FakeSuppressions

_STARTS = ("=", "+", "-", "@", "'=", "''-", "'", "")


def files(*addresses: str) -> SuppressionFiles:
    """Return the files of an account with suppressed addresses."""
    account = Account(account_id=ACCOUNT, name="Shop", plan=Plan.FREE, created_at=NOW)
    records = FakeSuppressions()
    for address in addresses:
        records.add(ACCOUNT, Suppression(address=address, reason="manual", at=NOW))
    return SuppressionFiles(
        records=records,
        accounts=FakeAccounts({ACCOUNT: account}),
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
