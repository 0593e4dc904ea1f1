"""What `pillarbox deploy` shows at its end: how to send a first email."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from admin.tables import Record
from admin.use_cases.first_steps import FirstStepsResult
from pillarbox.http.accounts.replies import NewKey, SenderItem

_SAVE: Final = "Save the key now: it cannot be shown a second time."


@contextmanager
def show_key_on_failure(result: FirstStepsResult) -> Iterator[None]:
    """Show a new key if the block fails or is interrupted: the next deployment makes no other."""
    try:
        yield
    except BaseException:
        if result.new_key:
            account_id, text = result.account.account_id, result.new_key.text
            typer.echo(f"The first key of the account {account_id}: {text}\n{_SAVE}", err=True)
        raise


def view(stack_name: str, region: str, api_url: str, result: FirstStepsResult) -> Record:
    """Return what a first email needs: an account, its new key or None, and a command."""
    key = result.new_key.text if result.new_key else "$PILLARBOX_KEY"
    body = (
        '{"to": "success@simulator.amazonses.com", "subject": "A first email",'
        ' "html": "<p>It works.</p>"}'
    )
    return {
        "stack": stack_name,
        "region": region,
        "baseUrl": api_url,
        "accountId": result.account.account_id,
        "key": NewKey.of(result.new_key) if result.new_key else None,
        "sender": SenderItem.of(result.sender) if result.sender else result.account.default_sender,
        "firstMail": (
            f'curl {api_url}/api/v1/emails -H "X-API-Key: {key}"'
            f" -H 'Content-Type: application/json' -d '{body}'"
        ),
    }


def hint(stack_name: str, result: FirstStepsResult) -> str | None:
    """Return what is still to be done before the account can send, or None."""
    hints = []
    if result.new_key:
        hints.append(_SAVE)
    if result.account.default_sender is None:
        command = f"pillarbox --stack-name {stack_name}"
        hints.append(
            "The account needs a verified sender before it can send:"
            f" {command} domain add DOMAIN, then"
            f" {command} sender add --account {result.account.account_id} ADDRESS"
        )
    return "\n".join(hints) or None
