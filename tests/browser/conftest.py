"""The SES stand-in and its inbox, as the tests of the local stack have them."""

from tests.integration.local.conftest import local_ses, send, ses

__all__ = ["local_ses", "send", "ses"]
