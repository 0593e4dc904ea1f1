"""A key as its owner receives it."""

from dataclasses import dataclass, field

from pillarbox.domain.accounts.key import ApiKey


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key. Its text exists only here: the record has just its digest."""

    record: ApiKey
    text: str = field(repr=False)  # so that it cannot get into a log
