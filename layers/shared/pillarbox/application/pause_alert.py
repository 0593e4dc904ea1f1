"""The alert to the owners of an account that something of it was paused, or may soon be."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from pillarbox.domain.accounts.alert import Alert, AlertKind
from pillarbox.domain.accounts.pause import Pause, PauseCause, PauseLevel

_EFFECTS: Final = {
    PauseLevel.WARN: "Everything is still sent. If the rate rises, we slow sending down and then"
    " pause it.",
    PauseLevel.BRAKE: "It now sends at most a tenth of its limit for each minute.",
    PauseLevel.STOP: "We accept no email of it now. Emails that wait in the queue are sent if the"
    " pause ends within four hours.",
}
_TITLES: Final = {
    PauseLevel.WARN: "Too many of your emails are refused",
    PauseLevel.BRAKE: "Your emails are slowed down",
    PauseLevel.STOP: "Your emails are paused",
}
_WHERE: Final = (
    "The dashboard shows the figures, and the list of emails which ones were refused. Remove the"
    " addresses that do not exist, and send only to people who expect your email."
)
_RESUME: Final = (
    "When you have corrected the cause, an owner can end the pause in the dashboard, once in a"
    " month. Afterwards only the operator of the service can."
)
_PROVIDER_RESUMES: Final = (
    "Amazon SES decides when the pause ends. Ask the operator of the service what SES has found."
)


def pause_alert(pauses: Sequence[Pause], at: datetime) -> Alert:
    """Return one alert about the new pauses of one judgement.

    Args:
        at: when the last of the events was that caused them. So a repeated judgement raises the
            same alert.
    """
    strictest = max(pauses, key=lambda pause: pause.level.rank)
    texts = [_text(pause) for pause in pauses]
    texts.append(_WHERE)
    if strictest.cause is PauseCause.PROVIDER:
        texts.append(_PROVIDER_RESUMES)
    elif strictest.level is not PauseLevel.WARN:
        texts.append(_RESUME)
    about = ", ".join(_name(pause) for pause in pauses)
    return Alert(
        kind=AlertKind.SENDING,
        name=" ".join(f"{pause.scope.value} {pause.id} {pause.level.value}" for pause in pauses),
        at=at,
        title=_TITLES[strictest.level],
        paragraphs=texts,
        about=f"This is about: {about}",
    )


def _text(pause: Pause) -> str:
    until = f" Until {pause.until:%-d %B %Y, %H:%M} UTC." if pause.until else ""
    if pause.level is PauseLevel.WARN:
        until = ""
    return f"{_name(pause).capitalize()}: {pause.reason}. {_EFFECTS[pause.level]}{until}"


def _name(pause: Pause) -> str:
    return f"{pause.scope.value} {pause.id}" if pause.id else "the whole account"
