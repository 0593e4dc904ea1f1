"""No package grows without a word: tools/budgets.toml has how large each may be."""

from tools.budgets import measure, read_table


def test_packages_are_within_their_budgets() -> None:
    """Lines and imported packages. `make budgets` writes new rows; a raised one needs a reason."""
    budgets, now = read_table(), measure()
    over = {
        package: (found, budgets.get(package))
        for package, found in now.items()
        if not (allowed := budgets.get(package)) or found[0] > allowed[0] or found[1] > allowed[1]
    }
    assert over == {}
    assert budgets.keys() <= now.keys()
