"""What goes wrong with an author's source is a fault of that source, never of the service."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Final

from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

_CANNOT: Final = "This cannot be rendered. The unusual tags are the likely cause: leave them out."
_logger: Final = logging.getLogger(__name__)


def as_source_errors[**P, R](work: Callable[P, R]) -> Callable[P, R]:
    """Let work on a source raise nothing but errors of the API.

    Every unexpected one becomes a `ValidationFailed` on `html`, and the log has its type. Those of
    the machine, such as a process that does not start, stay as they are.
    """

    @wraps(work)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except (ServiceError, OSError, ImportError):
            raise
        except Exception as error:
            _logger.warning("a source cannot be rendered: %s", type(error).__name__)
            raise ValidationFailed(FieldError("html", _CANNOT, "rendering_failed")) from error

    return run
