"""Call the API as an operator, with a key that lives as long as the command."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from admin.connection import StackConnection
from pillarbox.adapters.dynamodb import keys
from pillarbox.adapters.dynamodb.records import key_item
from pillarbox.adapters.dynamodb.table import Table
from pillarbox.adapters.management_api import HttpApiProbe
from pillarbox.domain.accounts.key import (
    ACCOUNTS_READ,
    ACCOUNTS_WRITE,
    KEY_ID_LENGTH,
    KEY_ID_PREFIX,
    ApiKey,
    KeyType,
    Preset,
    digest_of_key,
    new_key_text,
)
from pillarbox.domain.errors import CODES, FieldError, ServiceError, ValidationFailed
from pillarbox.domain.ids import new_token
from pillarbox.domain.sign_in.session import SERVICE_ACCOUNT_ID
from pillarbox.settings import Settings
from pillarbox.wiring import utc_now

#: Longer than a run takes, even one that deletes a large account.
_LIFE: Final = timedelta(hours=1)

#: Makes a request, as `HttpApiProbe.request` does without the key; None is the body of a 204.
type Call = Callable[..., Any]


@contextmanager
def operator_api(connection: StackConnection, permission: str) -> Iterator[Call]:
    """Yield what calls the API with a permission, and raises its errors.

    The key is that of the environment, for who may not write to the table, or one of the command's
    own.
    """
    wiring = connection.wiring
    scopes = {permission, ACCOUNTS_READ if permission.endswith(":read") else ACCOUNTS_WRITE}
    given = "" if connection.local else os.environ.get(Settings.management_key.variable, "")
    with nullcontext(given) if given else operator_key(wiring.credentials, scopes) as key:

        def call(method: str, path: str, **request: Any) -> Any:  # noqa: ANN401  JSON
            probe = HttpApiProbe(wiring.settings.api_url)
            status, answer = probe.request(method, path, key=key, **request)
            is_empty = status == HTTPStatus.NO_CONTENT
            if status >= HTTPStatus.BAD_REQUEST or is_empty is not (answer is None):
                raise _error(answer)
            return answer

        yield call


@contextmanager
def operator_key(credentials: Table, scopes: Iterable[str]) -> Iterator[str]:
    """Yield the text of a key of the service's own account, which is deleted after the block.

    Who may write to the table may operate the service. No list has the key; after a run that was
    killed it does nothing within the hour.
    """
    text, now = new_key_text(SERVICE_ACCOUNT_ID, KeyType.LIVE), utc_now()
    key = ApiKey(
        key_id=f"{KEY_ID_PREFIX}{SERVICE_ACCOUNT_ID}{new_token(KEY_ID_LENGTH)}",
        account_id=SERVICE_ACCOUNT_ID,
        name="pillarbox",
        type=KeyType.LIVE,
        preset=Preset.CUSTOM,
        scopes=frozenset(scopes),
        digest=digest_of_key(text),
        created_at=now,
        expires_at=now + _LIFE,
    )
    credentials.put(key_item(key))
    try:
        yield text
    finally:
        credentials.delete(keys.api_key(key.digest))


def _error(answer: Any) -> ServiceError:  # noqa: ANN401  JSON
    error: Any = answer.get("error", {}) if isinstance(answer, dict) else {}
    code, details = error.get("code"), error.get("details")
    if code == "validation_failed":
        return ValidationFailed(*(FieldError(**fault) for fault in details["errors"]))
    if code not in CODES:
        return ServiceError("service_unavailable", "The API gave no answer that can be read.")
    return ServiceError(code, error["message"], details=details)
