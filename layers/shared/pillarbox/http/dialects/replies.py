"""Write errors in the shape of another service."""

from collections.abc import Mapping

from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed
from pillarbox.http.messages.replies import Reply, reply, reply_error


def reply_in_shape(error: ServiceError, status: int, body: Mapping[str, object]) -> Reply:
    """Reply with a body and a status of another service, and the headers of our own reply."""
    ours = reply_error(error).headers
    return reply(body, status, {k: v for k, v in ours.items() if isinstance(v, str)})


def describe(error: ServiceError, names: Mapping[str, str], messages: Mapping[str, str]) -> str:
    """Return an error in words, with the names that the client used.

    Args:
        error: the error.
        names: our name of a field -> theirs.
        messages: our code -> a text in place of ours, which names our own fields.
    """
    if not isinstance(error, ValidationFailed):
        return messages.get(error.code, error.message)
    shown = error.listing(10)
    faults = "; ".join(_fault(fault, names) for fault in shown.errors)
    more = f" ({shown.unlisted} more)" if shown.unlisted else ""
    return f"{faults[:1].upper()}{faults[1:]}.{more}"


def _fault(fault: FieldError, names: Mapping[str, str]) -> str:
    if not fault.field:
        of_body = fault.message.startswith("must ")
        return f"the body {fault.message}" if of_body else fault.message
    field = fault.field
    if fault.code != "unknown_field":  # whose name is the client's, which may be one of ours
        field = ".".join(names.get(part, part) for part in field.split("."))
    return f"`{field}` {fault.message}"
