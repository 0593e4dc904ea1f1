"""What to use instead of a field that does not exist: most names are those of other services.

This module is loaded only when a request has such a field.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Final

_RECIPIENTS: Final = "the recipients are the bare addresses in to, cc and bcc"
_TEXT: Final = "a text part of your own goes in text"
_HTML: Final = "the HTML goes in html"
_SCHEDULE: Final = "the time to send it goes in scheduledAt, ISO 8601 with an offset"
_TAGS: Final = 'names and values of your own go in tags, an object such as {"order": "10442"}'
_NO_TRACKING: Final = "opens and clicks are not tracked"
_HEADERS: Final = "header fields go in headers, an object of names and values"
_TEMPLATE: Final = "a starter's slug goes in starterTemplate, a saved template's id in templateId"
_VALUES: Final = "the values of the template go in variables"
_SENDER: Final = "the sender goes in from, as an address or as Name <address>"
_REPLY_TO: Final = "one bare address goes in replyTo"
_FILES: Final = "files go in attachments"
_EMAILS: Final = "the emails of a batch go in messages"
_EVENT_TYPES: Final = "the types of events go in types"
_EVENT_TYPES_ELSEWHERE: Final = "events event eventtypes enabledevents triggers topics filtertypes"
_CONTENT: Final = "the file itself goes in content, in base64"

#: By the model: a hint, and the names that get it, in lower case and without - and _.
_INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    "SendEmailRequest": {
        _RECIPIENTS: (
            "recipient recipients toaddresses toemail destination personalizations"
            " messageversions ccaddresses bccaddresses"
        ),
        _TEXT: "textbody textcontent textpart plain plaintext",
        _HTML: "htmlbody htmlcontent htmlpart body content react mjml",
        _HEADERS: "header customheaders",
        "links to unsubscribe go in unsubscribe": "listunsubscribe unsubscribeurl",
        _SCHEDULE: "sendat deliverat deliverytime schedule",
        _TAGS: (
            "tag categories category metadata customargs emailtags messagestream"
            " configurationsetname customid batchid"
        ),
        _NO_TRACKING: "trackopens tracklinks trackclicks trackingsettings tracking",
        _TEMPLATE: "template templatealias templatename templateslug slug",
        _VALUES: (
            "templatemodel dynamictemplatedata templatedata templatevariables params"
            " data datavariables substitutions substitutiondata mergevars"
            " globalmergevars context"
        ),
        _SENDER: "sender fromemail fromaddress fromemailaddress sendername",
        _REPLY_TO: "replytolist replytoaddress replytoaddresses replytoemail",
        _FILES: "files inlineattachments inlinedattachments inline images",
        "several emails go to POST /api/v1/emails/batch": "messages emails",
        "the key goes in the header Idempotency-Key": "idempotencykey",
        "the key goes in the header X-API-Key": "apikey key",
    },
    "SendBatchRequest": {
        _EMAILS: "emails requests items data batch",
        "a single email goes to POST /api/v1/emails": "to html startertemplate templateid",
    },
    "AttachmentModel": {
        "the name of the file goes in filename": "name",
        "the MIME type goes in contentType": "type mimetype mediatype",
        "inline: true embeds the file": "disposition contentdisposition",
        _CONTENT: "data base64 base64content body contentbytes",
        f"{_CONTENT}; no file is fetched": "path url href",
        "the id goes in contentId, without < and >": "cid id",
        "content is always base64": "encoding contenttransferencoding",
    },
    "CreateWebhookRequest": {
        _EVENT_TYPES: _EVENT_TYPES_ELSEWHERE,
        "the address goes in url": "endpoint target uri href webhookurl",
    },
    "ChangeWebhookRequest": {_EVENT_TYPES: _EVENT_TYPES_ELSEWHERE},
    "RenderStarterRequest": {
        _VALUES: "templatemodel templatedata data params values",
    },
}


def unknown_field(name: str, shape: str, known: Iterable[str]) -> str:
    """Say that a request body has no such field, and what to use instead.

    The name is cut to a length that can be searched.
    """
    normal = _normal(name)
    for hint, names in _INSTEAD.get(shape, {}).items():
        if normal in names.split():
            return f"is not a field: {hint}"
    by_normal = {_normal(field): field for field in known}
    close = difflib.get_close_matches(normal, by_normal, n=1)
    return f"is not a field; did you mean {by_normal[close[0]]}?" if close else "is not a field"


def unknown_parameter(known: Iterable[str]) -> str:
    """Say that a query has no such parameter, and name those that exist."""
    *others, last = known
    return f"is not a parameter; the parameters are {', '.join(others)} and {last}"


def _normal(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")
