"""Received mail in the bucket of the spool.

SES stores a mail under `received/<domain>/`. What a record needs is then under
`answers/<days>/<account>/<day>/<received id>/`, and a rule of the bucket for each number of days
deletes it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from botocore.config import Config
from botocore.exceptions import ClientError

from pillarbox.adapters.aws import client_of, code_of, service_errors
from pillarbox.adapters.s3 import ANSWERS
from pillarbox.application.receiving_ports import StoredRaw
from pillarbox.domain.replies import CalendarAnswer, ReceivedContent, ReceivedMail

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_NAME: Final = "received mail"
_RAW: Final = "mail.eml"
_CONTENT: Final = "content.json"
#: As in adapters/s3.py.
_SIGNING: Final = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})


class S3Received:
    """Implements `ports.ReceivedObjects`."""

    _s3: "S3Client" = client_of("s3")
    _signer: "S3Client" = client_of("s3", _SIGNING)

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def get(self, key: str) -> StoredRaw | None:
        """Read a mail as SES stored it."""
        stored = self._read(key)
        return StoredRaw(stored["Body"].read(), stored["LastModified"]) if stored else None

    def save(
        self,
        mail: ReceivedMail,
        octets: bytes,
        content: ReceivedContent,
        files: Iterable[tuple[str, bytes]],
    ) -> None:
        """Write the objects; the same ones if it is repeated."""
        text = json.dumps(asdict(content)).encode()
        named = ((f"file-{number}", kind, file) for number, (kind, file) in enumerate(files))
        objects = [(_RAW, "message/rfc822", octets), (_CONTENT, "application/json", text), *named]
        for name, kind, body in objects:
            with service_errors(_NAME):
                self._s3.put_object(
                    Bucket=self._bucket, Key=_key(mail, name), Body=body, ContentType=kind
                )

    def delete(self, key: str) -> None:
        """Delete one object."""
        with service_errors(_NAME):
            self._s3.delete_object(Bucket=self._bucket, Key=key)

    def remove(self, mail: ReceivedMail) -> None:
        """Delete the objects of a mail."""
        names = [_RAW, _CONTENT, *(f"file-{number}" for number in range(len(mail.files)))]
        with service_errors(_NAME):
            listed: list[Any] = [{"Key": _key(mail, name)} for name in names]
            self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": listed})

    def content(self, mail: ReceivedMail) -> ReceivedContent | None:
        """Read the object with the texts."""
        stored = self._read(_key(mail, _CONTENT))
        if stored is None:
            return None
        fields = json.loads(stored["Body"].read())
        calendar = tuple(CalendarAnswer(**one) for one in fields.pop("calendar"))
        return ReceivedContent(**fields, calendar=calendar)

    def file(self, mail: ReceivedMail, number: int) -> bytes | None:
        """Read an object with a file."""
        stored = self._read(_key(mail, f"file-{number}"))
        return stored["Body"].read() if stored else None

    def sign(self, mail: ReceivedMail, file: int | None, life: timedelta) -> str:
        """Return a URL that downloads an object, and never shows it as a page."""
        name = _RAW if file is None else f"file-{file}"
        shown = f"{mail.received_id}.eml" if file is None else mail.files[file].filename or name
        return self._signer.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self._bucket,
                "Key": _key(mail, name),
                "ResponseContentType": "message/rfc822" if file is None else _BINARY,
                "ResponseContentDisposition": f"attachment; filename*=UTF-8''{quote(shown)}",
            },
            ExpiresIn=int(life.total_seconds()),
        )

    def _read(self, key: str) -> Any:  # noqa: ANN401  as the SDK
        try:
            with service_errors(_NAME):
                return self._s3.get_object(Bucket=self._bucket, Key=key)
        except ClientError as error:
            # AccessDenied is a wrong policy, since each reader has ListBucket: the mail waits.
            if code_of(error) == "NoSuchKey":
                return None
            raise


#: The sender of a file chose its type, which a browser must not believe.
_BINARY: Final = "application/octet-stream"


def _key(mail: ReceivedMail, name: str) -> str:
    day = mail.received_at.date().isoformat()
    return f"{ANSWERS}{mail.bucket_days}/{mail.account_id}/{day}/{mail.received_id}/{name}"
