"""What `pillarbox apply` reaches beside the API: files, Secrets Manager and the parameter store."""

import csv
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pillarbox.domain.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    import boto3


@dataclass(frozen=True, slots=True)
class ValueStores:
    """Implements `provisioning_ports.Values`. A relative path is one beside the file."""

    folder: Path
    session: Callable[[], "boto3.Session"]

    def read(self, destination: str) -> str | None:
        kind, _, name = destination.partition(":")
        if kind == "file":
            path = self.folder / name
            with file_errors(destination):
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
            with file_errors(destination):
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


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fault = str(error.strerror).lower()
        raise ValidationFailed(FieldError(name, f"cannot be used: {fault}", "invalid")) from None
    except UnicodeDecodeError:
        message = "cannot be used: it is not UTF-8"
        raise ValidationFailed(FieldError(name, message, "invalid")) from None


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
        return self._read(path)

    def addresses(self, path: str) -> list[str]:
        """Return the first column of a CSV file, or the one named `address`."""
        rows = [row for row in csv.reader(self._read(path).splitlines()) if row and row[0]]
        names = [name.strip().lower() for name in rows[0]] if rows else []
        column = names.index("address") if "address" in names else 0
        body = rows if rows and "@" in rows[0][column] else rows[1:]
        return [row[column].strip() for row in body if len(row) > column]

    def _read(self, path: str) -> str:
        with file_errors(path):
            return (self.folder / path).read_text(encoding="utf-8")
