"""Translate the fields of another service: each is carried, or refused by its name."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pillarbox.domain.errors import FieldError, Json, ValidationFailed, cut
from pillarbox.http.validation import MAX_NAME

#: More than any object of such a service has.
_MAX_UNKNOWN: Final = 100


#: PHP has one empty array, and clients send these for what their caller does not give.
_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})


def given(body: Mapping[str, Json], keep: Collection[str] = ()) -> dict[str, Json]:
    """Return the fields that have a value; the content of a file may be empty, so `keep` it."""
    return {
        name: value
        for name, value in body.items()
        if value not in _NOTHING or (name in keep and value is not None)
    }


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an object that another service takes. What is empty is the same as no field."""

    #: Their name -> ours.
    carried: Mapping[str, str]
    #: Those that say what is so anyway: their name -> the only value, and what is so.
    settled: Mapping[str, tuple[Json, str]] = field(default_factory=dict)
    #: Their name -> why there is none.
    refused: Mapping[str, str] = field(default_factory=dict)
    #: Those that may be empty.
    keep: Collection[str] = ()
    #: Whether the case of names does not matter.
    any_case: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Every name that it knows."""
        return frozenset({*self.carried, *self.settled, *self.refused})

    def translate(self, body: Json) -> dict[str, Json]:
        """Return an object with our names for what is carried.

        Raises:
            ValidationFailed: it is no object, or has fields that are not carried.
        """
        if not isinstance(body, dict):
            raise ValidationFailed(FieldError("", "must be an object", "wrong_type"))
        if self.any_case:
            body = self._as_spelled(body)
        present = given(body, self.keep)
        errors = [
            FieldError(cut(name, MAX_NAME), reason, "unknown_field")
            for name, value in present.items()
            if (reason := self._refusal(name, value))
        ]
        if errors:
            raise ValidationFailed(
                *errors[:_MAX_UNKNOWN], unlisted=max(0, len(errors) - _MAX_UNKNOWN)
            )
        return {ours: present[name] for name, ours in self.carried.items() if name in present}

    def _as_spelled(self, body: Mapping[str, Json]) -> dict[str, Json]:
        spelled = {name.lower(): name for name in self.names}
        found: dict[str, Json] = {}
        for name, value in body.items():
            usual = spelled.get(name.lower(), name)
            if usual in found:
                raise ValidationFailed(FieldError(usual, "is given twice", "duplicate"))
            found[usual] = value
        return found

    def _refusal(self, name: str, value: Json) -> str | None:
        if name in self.carried:
            return None
        if name in self.settled:
            only, reason = self.settled[name]
            return None if _same(value, only) else reason
        return self.refused.get(name, "is not a field that Pillarbox has")


def named_values(field: str, items: Sequence[Json], pair: Fields) -> dict[str, Json]:
    """Return the values of a list of names and values, by their names.

    Args:
        field: the list's name.
        items: each has two fields, for which `pair` has our names `name` and `value`.
        pair: their names.

    Raises:
        ValidationFailed: an item is no such object, or a name occurs twice.
    """
    values: dict[str, Json] = {}
    for position, item in enumerate(items):
        try:
            found = pair.translate(item)
        except ValidationFailed as failed:
            raise failed.below(f"{field}.{position}") from None
        if not found:
            continue
        name = found.get("name")
        if not isinstance(name, str) or name in values:
            theirs = next(theirs for theirs, ours in pair.carried.items() if ours == "name")
            message = "must be a name that occurs once"
            raise ValidationFailed(
                FieldError(f"{field}.{position}.{theirs}", message, "wrong_type")
            )
        values[name] = found.get("value")
    return given(values)


def _same(value: Json, other: Json) -> bool:
    # 0 is not false here.
    return type(value) is type(other) and value == other
