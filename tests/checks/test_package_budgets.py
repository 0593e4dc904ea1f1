"""No package grows without a word: tools/budgets.toml has how large each may be."""

from tools.budgets import measure, read_table


def test_packages_are_within_their_budgets() -> None:
    """Lines and imported packages. `make budgets` writes new rows; a raised one needs a reason."""
    budgets = read_table()
    over = {
        package: (found, budgets.get(package))
        for package, found in measure().items()
        if not (allowed := budgets.get(package)) or found[0] > allowed[0] or found[1] > allowed[1]
    }
    assert over == {}


def test_each_row_has_its_package() -> None:
    assert read_table().keys() <= measure().keys()
