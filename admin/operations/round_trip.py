"""A real mail through the whole service, to SES's mailbox simulator."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

from admin.operations.findings import Finding, Verdict
from admin.operations.ports import ApiProbe
from pillarbox.application.accounts.keys import Keys
from pillarbox.application.accounts.lookup import find_account
from pillarbox.application.accounts.ports import AccountRecords
from pillarbox.application.ports import Clock
from pillarbox.domain.account import Account
from pillarbox.domain.errors import FieldFault, Json, ValidationFailed
from pillarbox.domain.key import Preset

#: Takes every mail, counts against no quota of SES, and may be mailed from the sandbox.
_SIMULATOR: Final = "success@simulator.amazonses.com"
_PATH: Final = "/v1/emails"
_LOOK_EVERY: Final = timedelta(seconds=1)
_AT_MOST: Final = timedelta(seconds=120)
_FINAL: Final = frozenset({"delivered", "bounced", "complained", "failed"})
_TRACE: Final = "Follow the message's id: SES console, EventBridge rule, events queue, its log."


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTrip:
    """Sends as a client does, and looks until the events of SES have come back."""

    accounts: AccountRecords
    keys: Keys
    door: ApiProbe
    clock: Clock
    pause: Callable[[float], None]

    def make(self, account_id: str | None) -> Finding:
        """Send one mail with a key that is made for it and revoked after it.

        Args:
            account_id: who sends; None for the only account that has a default sender.

        Raises:
            ValidationFailed: on `account`, when it is not clear who sends.
            ServiceError: `account_not_found`; `service_unavailable`.
        """
        account = self._sender(account_id)
        issued = self.keys.issue_live(account.account_id, "doctor", Preset.SEND)
        try:
            return self._send(issued.text)
        finally:
            self.keys.revoke(issued.record.key_id)

    def _sender(self, account_id: str | None) -> Account:
        if account_id is not None:
            return find_account(self.accounts, account_id)
        able = [account for account in self.accounts.all() if account.default_sender]
        if len(able) != 1:
            message = f"{len(able)} accounts have a default sender: say which one sends (--account)"
            raise ValidationFailed(FieldFault("account", message, "required"))
        return able[0]

    def _send(self, key: str) -> Finding:
        begun = self.clock()
        body: Json = {
            "to": _SIMULATOR,
            "subject": "Pillarbox: a round trip",
            "html": "<p>This mail shows that the service works from end to end.</p>",
        }
        status, answer = self.door.request("POST", _PATH, key=key, body=body)
        if status != HTTPStatus.OK:
            return _failed(f"The mail was not accepted: {status} {_fault(answer)}", "As it says.")
        message_id = _text(answer, "messageId")
        state = "queued"
        while self.clock() - begun < _AT_MOST:
            self.pause(_LOOK_EVERY.total_seconds())
            _, detail = self.door.request("GET", f"{_PATH}/{message_id}", key=key)
            state = _text(detail, "status") or state
            if state in _FINAL:
                break
        took = (self.clock() - begun).total_seconds()
        if state != "delivered":
            return _failed(f"After {took:.0f} seconds {message_id} is {state}.", _TRACE)
        return Finding("mail", Verdict.PASS, f"Sent, delivered and told of in {took:.0f} seconds.")


def _failed(said: str, remedy: str) -> Finding:
    return Finding("mail", Verdict.FAIL, said, remedy)


def _text(answer: Json, name: str) -> str:
    value = answer.get(name) if isinstance(answer, dict) else None
    return value if isinstance(value, str) else ""


def _fault(answer: Json) -> str:
    error = answer.get("error") if isinstance(answer, dict) else None
    return f"{_text(error, 'code')}: {_text(error, 'message')}"
