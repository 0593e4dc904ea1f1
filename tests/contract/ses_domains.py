"""The domains of SES, replaced inside botocore."""

import json
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

type Answer = tuple[AWSResponse, dict[str, Any]]

_TOKENS: Final = ("token1", "token2", "token3")


@dataclass(slots=True)
class SesDomainIdentities:
    """The identities of domains: whether each is verified, and its MAIL FROM domain."""

    known: dict[str, bool] = field(default_factory=dict)
    mail_from: dict[str, str] = field(default_factory=dict)
    #: What SES says of DKIM, if it is not the verification.
    dkim: dict[str, str] = field(default_factory=dict)
    #: The error to respond with: (HTTP status, error code).
    failure: tuple[int, str] | None = None
    #: The error code with which new identities are refused.
    refused: str | None = None
    #: The ARNs of what the only tenant may send with.
    associated: list[str] = field(default_factory=list)
    #: The tenants that were created.
    tenants: set[str] = field(default_factory=set)
    #: The tenants that SES has paused.
    paused: set[str] = field(default_factory=set)
    #: The identities that mail bounces and complaints to their senders: all new ones.
    mailing: set[str] = field(default_factory=set)
    #: The error code with which SES keeps that on.
    kept_mailing: str | None = None
    #: What was taken off a suppression list: the tenant (None: the AWS account), and the address.
    #: Each address is on each list.
    freed: list[tuple[str | None, str]] = field(default_factory=list)
    #: How often each operation was called.
    calls: list[str] = field(default_factory=list)

    def answer(self, events: Any) -> None:
        """Respond to a client's calls."""
        for operation, answer in {
            "CreateEmailIdentity": self._create,
            "DeleteEmailIdentity": self._delete,
            "DeleteSuppressedDestination": self._free,
            "GetEmailIdentity": self._get,
            "PutEmailIdentityFeedbackAttributes": self._put_feedback,
            "PutEmailIdentityMailFromAttributes": self._put_mail_from,
            "CreateTenantResourceAssociation": self._associate,
            "CreateTenant": self._create_tenant,
            "DeleteTenant": lambda **_: aws_response(200, {}),
            "PutTenantSuppressionAttributes": lambda **_: aws_response(200, {}),
            "UpdateReputationEntityPolicy": lambda **_: aws_response(200, {}),
            "GetTenant": self._tenant,
            "ListTenantResources": self._resources,
        }.items():
            events.register(f"before-call.sesv2.{operation}", answer)

    def _create(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("create")
        if self.failure:
            return _error(*self.failure)
        if self.refused:
            return _error(400, self.refused)
        name = json.loads(params["body"])["EmailIdentity"]
        if name in self.known:
            return _error(400, "AlreadyExistsException")
        self.known[name] = False
        self.mailing.add(name)
        return aws_response(200, {})

    def _delete(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("delete")
        name = unquote(params["url_path"].rpartition("/")[2])
        if self.known.pop(name, None) is None:
            return _error(404, "NotFoundException")
        self.mail_from.pop(name, None)
        self.dkim.pop(name, None)
        return aws_response(200, {})

    def _free(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("free")
        if self.failure:
            return _error(*self.failure)
        address = unquote(params["url_path"].rpartition("/")[2])
        self.freed.append((params["query_string"].get("TenantName"), address))
        return aws_response(200, {})

    def _get(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("get")
        if self.failure:
            return _error(*self.failure)
        name = unquote(params["url_path"].rpartition("/")[2])
        if name not in self.known:
            return _error(404, "NotFoundException")
        status = "SUCCESS" if self.known[name] else "PENDING"
        mail_from = {"MailFromDomain": self.mail_from.get(name), "MailFromDomainStatus": status}
        return aws_response(
            200,
            {
                "VerifiedForSendingStatus": self.known[name],
                "FeedbackForwardingStatus": name in self.mailing,
                "DkimAttributes": {"Status": self.dkim.get(name, status), "Tokens": [*_TOKENS]},
                "MailFromAttributes": mail_from if name in self.mail_from else {},
            },
        )

    def _put_mail_from(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("mail-from")
        name = unquote(params["url_path"].split("/")[-2])
        self.mail_from[name] = json.loads(params["body"])["MailFromDomain"]
        return aws_response(200, {})

    def _put_feedback(self, params: dict[str, Any], **_: object) -> Answer:
        self.calls.append("feedback")
        if self.kept_mailing:
            return _error(400, self.kept_mailing)
        assert json.loads(params["body"]) == {"EmailForwardingEnabled": False}
        self.mailing.discard(unquote(params["url_path"].split("/")[-2]))
        return aws_response(200, {})

    def _associate(self, params: dict[str, Any], **_: object) -> Answer:
        self.associated.append(json.loads(params["body"])["ResourceArn"])
        return aws_response(200, {})

    def _create_tenant(self, params: dict[str, Any], **_: object) -> Answer:
        name = json.loads(params["body"])["TenantName"]
        if name in self.tenants:
            return _error(400, "AlreadyExistsException")
        self.tenants.add(name)
        return aws_response(200, {})

    def _tenant(self, params: dict[str, Any], **_: object) -> Answer:
        name = json.loads(params["body"])["TenantName"]
        arn = f"arn:aws:ses:eu-west-1:123456789012:tenant/{name}/tn-1"
        status = "DISABLED" if name in self.paused else "ENABLED"
        tenant = {"TenantName": name, "TenantArn": arn, "SendingStatus": status}
        return aws_response(200, {"Tenant": tenant})

    def _resources(self, **_: object) -> Answer:
        found = [{"ResourceArn": arn} for arn in self.associated]
        return aws_response(200, {"TenantResources": found})


def tenant_event(name: str) -> dict[str, Any]:
    """Return the event with which SES says that it has changed the status of a tenant."""
    return {
        "detail-type": "Sending Status Disabled",
        "source": "aws.ses",
        "time": "2026-01-01T12:00:00Z",
        "resources": [f"arn:aws:ses:eu-west-1:123456789012:tenant/{name}/tn-1"],
        "detail": {"version": "1.0.0", "data": {"origin": "AWS_MANAGED"}},
    }


def _error(status: int, code: str) -> Answer:
    return aws_response(status, {"Error": {"Code": code, "Message": "of SES"}})


def aws_response(status: int, body: dict[str, Any]) -> Answer:
    """Return a response of AWS, for a `before-call` hook."""
    parsed = body | {"ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": {}}}
    return AWSResponse("https://aws.invalid", status, HTTPHeaders(), None), parsed
