"""Send a test email through the whole service to SES's mailbox simulator."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from admin.use_cases.ports import ApiProbe
from pillarbox.application.account_lookup import find_account
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.operator.checks import Finding, Verdict
from pillarbox.application.ports import Clock
from pillarbox.domain.accounts.account import Account
from pillarbox.domain.accounts.key import Preset
from pillarbox.domain.errors import FieldError, Json, ValidationFailed

#: Accepts every email, does not count towards SES's quota, and works from the sandbox.
_SIMULATOR: Final = "success@simulator.amazonses.com"
_PATH: Final = "/v1/emails"
_POLL_INTERVAL: Final = timedelta(seconds=1)
_MAX_WAIT: Final = timedelta(seconds=120)
_FINAL_STATUSES: Final = frozenset({"delivered", "bounced", "complained", "failed"})
_REMEDY: Final = (
    "Search for the message's id: in the log of DeliverMessage, in SES (console), in the rule of"
    " EventBridge, in the events queue, and in the log of RecordFeedback."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Sends as a client does, and waits until SES reports the email as delivered."""

    accounts: AccountRecords
    keys: Keys
    api_probe: ApiProbe
    clock: Clock
    pause: Callable[[float], None]

    def run(self, account_id: str | None) -> Finding:
        """Send one email with a new key, which is revoked afterwards.

        None stands for the only account that has a default sender.
        """
        account = self._sending_account(account_id)
        key = self.keys.issue_live(account.account_id, "doctor", Preset.SEND)
        try:
            return self._send(key.text)
        finally:
            self.keys.revoke(key.record.key_id)

    def _sending_account(self, account_id: str | None) -> Account:
        if account_id is not None:
            return find_account(self.accounts, account_id)
        candidates = [account for account in self.accounts.all() if account.default_sender]
        if len(candidates) != 1:
            message = (
                f"{len(candidates)} accounts have a default sender: choose one with --account"
                if candidates
                else "no account has a default sender: add one with `pillarbox sender add`"
            )
            raise ValidationFailed(FieldError("account", message, "required"))
        return candidates[0]

    def _send(self, key: str) -> Finding:
        start = self.clock()
        body: Json = {
            "to": _SIMULATOR,
            "subject": "Pillarbox: a round trip",
            "html": "<p>This email shows that the service works from end to end.</p>",
        }
        status_code, reply = self.api_probe.request("POST", _PATH, key=key, body=body)
        if status_code != HTTPStatus.OK:
            return _failed(
                f"The email was not accepted: {status_code} {_error_text(reply)}",
                "Fix what the error names. docs/errors.md describes each code.",
            )
        message_id = _text(reply, "messageId")
        status = "queued"
        while self.clock() - start < _MAX_WAIT:
            self.pause(_POLL_INTERVAL.total_seconds())
            _, detail = self.api_probe.request("GET", f"{_PATH}/{message_id}", key=key)
            status = _text(detail, "status") or status
            if status in _FINAL_STATUSES:
                break
        seconds = (self.clock() - start).total_seconds()
        if status != "delivered":
            return _failed(f"After {seconds:.0f} seconds {message_id} is {status}.", _REMEDY)
        message = f"A test email was sent and reported as delivered in {seconds:.0f} seconds."
        return Finding("mail", Verdict.PASS, message)


def _failed(message: str, remedy: str) -> Finding:
    return Finding("mail", Verdict.FAIL, message, remedy)


def _text(reply: Json, name: str) -> str:
    value = reply.get(name) if isinstance(reply, dict) else None
    return value if isinstance(value, str) else ""


def _error_text(reply: Json) -> str:
    error = reply.get("error") if isinstance(reply, dict) else None
    return f"{_text(error, 'code')}: {_text(error, 'message')}"
