"""Fixtures for the SES stand-in and its inbox, from the tests of the local stack."""

from tests.integration.local.conftest import local_ses, send, ses

__all__ = ["local_ses", "send", "ses"]
