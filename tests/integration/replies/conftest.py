"""Emulated AWS for the tests of received mail."""

from tests.aws import aws, running_aws

__all__ = ["aws", "running_aws"]
