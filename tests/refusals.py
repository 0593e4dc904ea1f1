"""What a call that must be refused raises."""

from collections.abc import Callable

import pytest

from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed


def refusal[**P](call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> ServiceError:
    """Return the error of a call; the test fails if it raises none."""
    with pytest.raises(ServiceError) as refused:
        call(*args, **kwargs)
    return refused.value


def faults[**P](
    call: Callable[P, object], *args: P.args, **kwargs: P.kwargs
) -> list[tuple[str, str]]:
    """Return the field and the code of each fault that a call reports."""
    error = refusal(call, *args, **kwargs)
    assert isinstance(error, ValidationFailed)
    return [(fault.field, fault.code) for fault in error.errors]


def fault[**P](call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> FieldError:
    error = refusal(call, *args, **kwargs)
    assert isinstance(error, ValidationFailed)
    (only,) = error.errors
    return only
