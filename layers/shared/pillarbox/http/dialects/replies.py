"""Write errors in the shape of another service."""

from collections.abc import Mapping

from pillarbox.domain.errors import ServiceError, ValidationFailed
from pillarbox.http.messages.replies import Reply, reply, reply_error


def reply_in_shape(error: ServiceError, status: int, body: Mapping[str, object]) -> Reply:
    """Reply with a body and a status of another service, and the headers of our own reply."""
    ours = reply_error(error).headers
    return reply(body, status, {k: v for k, v in ours.items() if isinstance(v, str)})


def describe(
    error: ServiceError, names: Mapping[str, str], messages: Mapping[str, str], body: str
) -> str:
    """Return an error in words, with the names that the client used.

    Args:
        error: the error.
        names: our name of a field -> theirs.
        messages: our code -> a text in place of ours, which names our own fields.
        body: what stands for the name of the whole body.
    """
    if not isinstance(error, ValidationFailed):
        return messages.get(error.code, error.message)
    shown = error.listing(10)
    faults = []
    for fault in shown.errors:
        name = ".".join(names.get(part, part) for part in fault.field.split("."))
        faults.append(f"`{name}` {fault.message}" if name else f"{body} {fault.message}")
    more = f" ({shown.unlisted} more)" if shown.unlisted else ""
    return f"{'; '.join(faults)}.{more}"
