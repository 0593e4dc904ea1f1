"""Passkeys: check the answers of authenticators (`webauthn`), and have emails about them sent.

Only the function `passkeys` and development have the package. It is loaded with the first answer,
so neither another function nor a list of passkeys waits for it.
"""

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from pillarbox.adapters.rows import MILLISECONDS, Row, one_of
from pillarbox.domain.sign_in.passkey import (
    NewPasskeyAnswer,
    PasskeyAnswer,
    PasskeyChange,
    PasskeyNotice,
    Site,
    VerifiedPasskey,
)


class WebAuthnVerifier:
    """Implements `sign_in.ports.PasskeyVerifier`."""

    @staticmethod
    def check_new(answer: NewPasskeyAnswer, challenge: bytes, site: Site) -> VerifiedPasskey | None:
        """Check an answer to `navigator.credentials.create` (WebAuthn section 7.1)."""
        _load()
        return _unless_malformed(lambda: _check_new(answer, challenge, site))

    @staticmethod
    def check_use(
        answer: PasskeyAnswer, challenge: bytes, site: Site, public_key: str
    ) -> int | None:
        """Check an answer to `navigator.credentials.get` (WebAuthn section 7.2)."""
        _load()
        return _unless_malformed(lambda: _check_use(answer, challenge, site, public_key))


def _load() -> None:
    """Load the package, so that its absence is an error and no wrong answer."""
    import_module("webauthn")


def _unless_malformed[T](check: Callable[[], T]) -> T | None:
    """Return the result of a check; None if it fails.

    A stranger chooses the bytes, and the parsers of CBOR, ASN.1, keys and certificates each raise
    their own errors, which the package does not list. All mean that the answer is not right.
    """
    try:
        return check()
    except Exception:  # noqa: BLE001  see above
        return None


def _check_new(answer: NewPasskeyAnswer, challenge: bytes, site: Site) -> VerifiedPasskey | None:
    from webauthn import helpers, verify_registration_response  # noqa: PLC0415  see the module
    from webauthn.helpers import cose, structs  # noqa: PLC0415  see the module

    credential = structs.RegistrationCredential(
        id=answer.credential,
        raw_id=helpers.base64url_to_bytes(answer.credential),
        response=structs.AuthenticatorAttestationResponse(
            client_data_json=_of_own_page(helpers.base64url_to_bytes(answer.client_data)),
            attestation_object=helpers.base64url_to_bytes(answer.attestation),
        ),
    )
    verified = verify_registration_response(
        credential=credential,
        expected_challenge=challenge,
        expected_rp_id=site.rp_id,
        expected_origin=site.origin,
        require_user_verification=True,
        # What the dashboard asks for. Each authenticator has one of them.
        supported_pub_key_algs=[
            cose.COSEAlgorithmIdentifier.ECDSA_SHA_256,
            cose.COSEAlgorithmIdentifier.EDDSA,
            cose.COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
        ],
    )
    if verified.credential_id != credential.raw_id:
        return None
    return VerifiedPasskey(
        public_key=helpers.bytes_to_base64url(verified.credential_public_key),
        sign_count=verified.sign_count,
        synced=verified.credential_backed_up,
    )


def _check_use(answer: PasskeyAnswer, challenge: bytes, site: Site, public_key: str) -> int:
    from webauthn import helpers, verify_authentication_response  # noqa: PLC0415  see the module
    from webauthn.helpers import structs  # noqa: PLC0415  see the module

    verified = verify_authentication_response(
        credential=structs.AuthenticationCredential(
            id=answer.credential,
            raw_id=helpers.base64url_to_bytes(answer.credential),
            response=structs.AuthenticatorAssertionResponse(
                client_data_json=_of_own_page(helpers.base64url_to_bytes(answer.client_data)),
                authenticator_data=helpers.base64url_to_bytes(answer.authenticator_data),
                signature=helpers.base64url_to_bytes(answer.signature),
            ),
        ),
        expected_challenge=challenge,
        expected_rp_id=site.rp_id,
        expected_origin=site.origin,
        credential_public_key=helpers.base64url_to_bytes(public_key),
        # The use case compares the counts, because it also stops a passkey that has a copy.
        credential_current_sign_count=0,
        require_user_verification=True,
    )
    return verified.new_sign_count


def _of_own_page(client_data: bytes) -> bytes:
    """Return client data, if no page inside another site's frame has made it."""
    if json.loads(client_data).get("crossOrigin"):
        raise ValueError("of a page in another site's frame")
    return client_data


_VERSION: Final = 1
_NOTICE: Final = Row(
    PasskeyNotice,
    *("address", "name"),
    notice_id="notice",
    change=("change", one_of(PasskeyChange)),
    at=("at", MILLISECONDS),
)


class LambdaPasskeyNotices:
    """Implements `sign_in.ports.PasskeyNotices`."""

    def __init__(self, invoke: Callable[[Mapping[str, Any]], None]) -> None:
        self._invoke = invoke

    def put(self, notice: PasskeyNotice) -> None:
        self._invoke({"version": _VERSION, **_NOTICE.write(notice)})


def read_notice(event: Mapping[str, Any]) -> PasskeyNotice:
    if event["version"] != _VERSION:
        raise ValueError("the notice has another version")
    return _NOTICE.read(event)
