"""What `pillarbox apply` reaches: the HTTP API, files, Secrets Manager and the parameter store."""

import csv
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from admin.aws.api_probe import HttpApiProbe
from pillarbox.domain.errors import FieldError, ServiceError, ValidationFailed

if TYPE_CHECKING:
    import boto3

#: Requests that the service refuses for now are repeated so often, after so many seconds.
_TRIES: Final = 12
_WAIT: Final = 10.0
_BUSY: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class HttpManagementApi:
    """Implements `provisioning_ports.ManagementApi`."""

    probe: HttpApiProbe
    key: str = field(repr=False)
    sleep: Callable[[float], None]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401  JSON
        *,
        account: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401  JSON
        """Make a request, again if the service is busy, and return the body of a success."""
        sent = {**(headers or {}), **({"X-Account": account} if account else {})}
        for left in reversed(range(_TRIES)):
            status, content = self.probe.request(
                method, path, key=self.key, body=body, headers=sent
            )
            if status not in _BUSY or not left:
                break
            self.sleep(_WAIT)
        if status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(f"{method} {path}", status, content)
        return content


def _refusal(call: str, status: int, content: Any) -> ServiceError:  # noqa: ANN401  JSON
    error = content.get("error", {}) if isinstance(content, dict) else {}
    faults = (error.get("details") or {}).get("errors", [])
    texts = [f"{one['field']} {one['message']}" for one in faults] or [error.get("message", "")]
    code = error.get("code", "service_unavailable")
    message = f"{call} got {status} {code}: {'; '.join(texts)}"
    return ServiceError("service_unavailable", message)


@dataclass(frozen=True, slots=True)
class ValueStores:
    """Implements `provisioning_ports.Values`. A relative path is one beside the file."""

    folder: Path
    session: Callable[[], "boto3.Session"]

    def read(self, destination: str) -> str | None:
        """Return a stored value; None if there is none."""
        kind, _, name = destination.partition(":")
        if kind == "file":
            path = self.folder / name
            return path.read_text().strip() if path.exists() else None
        if kind == "ssm":
            client = self.session().client("ssm")
            try:
                return str(
                    client.get_parameter(Name=name, WithDecryption=True)["Parameter"]["Value"]
                )
            except client.exceptions.ParameterNotFound:
                return None
        secrets = self.session().client("secretsmanager")
        try:
            return str(secrets.get_secret_value(SecretId=name)["SecretString"])
        except secrets.exceptions.ResourceNotFoundException:
            return None

    def write(self, destination: str, value: str) -> None:
        """Store a value: a whole file of mode 0600, an encrypted parameter, or a secret."""
        kind, _, name = destination.partition(":")
        if kind == "file":
            write_private(self.folder / name, value + "\n")
        elif kind == "ssm":
            client = self.session().client("ssm")
            client.put_parameter(Name=name, Value=value, Type="SecureString", Overwrite=True)
        else:
            secrets = self.session().client("secretsmanager")
            try:
                secrets.put_secret_value(SecretId=name, SecretString=value)
            except secrets.exceptions.ResourceNotFoundException:
                secrets.create_secret(Name=name, SecretString=value)


def write_private(path: Path, text: str) -> None:
    """Replace a file as a whole by one that only the user may read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123  the mode is given
        file.write(text)
    part.replace(path)


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Implements `provisioning_ports.Files`. Paths are relative to the provision file."""

    folder: Path

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return self._read(path)

    def addresses(self, path: str) -> list[str]:
        """Return the first column of a CSV file, or the one named `address`."""
        rows = [row for row in csv.reader(self._read(path).splitlines()) if row and row[0]]
        names = [name.strip().lower() for name in rows[0]] if rows else []
        column = names.index("address") if "address" in names else 0
        body = rows if rows and "@" in rows[0][column] else rows[1:]
        return [row[column].strip() for row in body if len(row) > column]

    def _read(self, path: str) -> str:
        try:
            return (self.folder / path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ValidationFailed(
                FieldError(path, f"cannot be read: {error}", "invalid")
            ) from error
