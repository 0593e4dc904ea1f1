"""List prices for us-east-1, each with its public source and the day it was found there.

    .venv/bin/python -m benchmarks.prices

It names the prices that are older than 120 days; `make audit` runs it. An old price is no failure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from admin.use_cases import ses_plans
from admin.use_cases.ses_plans import SesPlan

_AIRBYTE: Final = "https://airbyte.com/data-engineering-resources/dynamodb-pricing"
_CLOUDFRONT: Final = "http://aws.amazon.com/cloudfront/pricing"
_FARGATE: Final = "https://www.vantage.sh/blog/fargate-pricing"
_GATEWAY: Final = (
    "https://docs.aws.amazon.com/pt_br/whitepapers/latest/"
    "best-practices-api-gateway-private-apis-integration/cost-optimization.html"
)
_WAF: Final = "https://c3x.dev/blog/aws-waf-cost-explained/"
_LAMBDA: Final = "https://aws.amazon.com/lambda/pricing/"
_S3: Final = "https://aws.amazon.com/s3/pricing/"
_SES: Final = "https://aws.amazon.com/ses/pricing/"
#: The day on which most prices were found; the others name theirs.
_FOUND: Final = date(2026, 11, 22)
_LATER: Final = date(2026, 11, 23)
_LATEST: Final = date(2026, 11, 26)
_RECEIVING: Final = date(2026, 11, 29)
_OLD: Final = timedelta(days=120)


@dataclass(frozen=True, slots=True)
class Price:
    """A price in dollars. It has no source if it was not found on a public page."""

    dollars: float
    unit: str
    source: str | None = None
    note: str = ""
    found: date = _FOUND

    def cite(self) -> str:
        """Return the source as Markdown, or say that there is none."""
        where = f"[page]({self.source})" if self.source else "**not verified**"
        return f"{where}{self.note and f' ({self.note})'}"


@dataclass(frozen=True, slots=True)
class Peer(Price):
    """Another service, and what it would take from each of the operators."""

    name: str = ""
    shown: tuple[str, ...] = ()


PRICES: Final[Mapping[str, Price]] = {
    "ses": Price(
        ses_plans.PRICES[SesPlan.NONE].steps[0][1],
        "1,000 recipients, SES without a plan",
        ses_plans.PRICES_SOURCE,
        "copy of AWS's price list of 2026-07-22",
        ses_plans.PRICES_FOUND,
    ),
    "ses-essentials": Price(
        ses_plans.PRICES[SesPlan.ESSENTIALS].steps[0][1],
        "1,000 emails, SES with Essentials; 0.14 beyond 10 million a month",
        ses_plans.PRICES_SOURCE,
        "the same",
        ses_plans.PRICES_FOUND,
    ),
    "received": Price(
        0.1, "1,000 received mails, SES", _SES, "AWS; figures from public copies", _RECEIVING
    ),
    "chunk": Price(0.09, "1,000 received chunks of 256 KB, SES", _SES, "the same", _RECEIVING),
    "put": Price(
        5.0,
        "a million PUTs, S3",
        _S3,
        "AWS; figures from public copies of its price list",
        _RECEIVING,
    ),
    "get": Price(0.4, "a million GETs, S3", _S3, "the same", _RECEIVING),
    "object": Price(0.023, "a GB and month, S3", _S3, "the same", _RECEIVING),
    "tenant": Price(
        0.005,
        "a tenant of SES and month; with Enterprise 1,000 are free",
        ses_plans.PRICES_SOURCE,
        "the same, `USE1-Tenant-Count`",
        _LATEST,
    ),
    "tenant-emails": Price(
        0.005,
        "1,000 emails of tenants, SES without Enterprise",
        "https://docs.aws.amazon.com/ses/latest/dg/tenants.html",
        'AWS: "based on the number of emails"; figure from public copies of its price page',
        _LATEST,
    ),
    "write": Price(0.625, "a million write units, DynamoDB on demand", _AIRBYTE),
    "read": Price(0.125, "a million read units, DynamoDB on demand", _AIRBYTE),
    "kept": Price(
        0.45,
        "a GB and month in the table, 0.25, and its recovery, 0.20",
        "https://aws.amazon.com/dynamodb/pricing/",
        "AWS; figures from public copies of its price list",
        _LATER,
    ),
    "gateway": Price(3.5, "a million requests, API Gateway REST", _GATEWAY, "AWS"),
    "gb-second": Price(
        0.0000133334,
        "a GB-second on arm64, Lambda",
        "https://git.mcrn.ar/mariano/lambda_local_runner/src/branch/main/docs/lambdas-md/lambda-13-cost.md",
    ),
    "invocation": Price(
        0.2, "a million requests, Lambda", _LAMBDA, "AWS; figure from the row above"
    ),
    "sqs": Price(0.4, "a million requests, SQS", "https://cloudburn.io/blog/amazon-sqs-pricing"),
    "edge": Price(
        1.0,
        "a million HTTPS requests, CloudFront in North America",
        "https://kindatechnical.com/aws-certification-associate-developer/lesson-87-cloudfront-pricing.html",
    ),
    "function": Price(
        0.1,
        "a million calls of a CloudFront function",
        "https://cur.vantage.sh/aws/amazoncloudfront/",
    ),
    "bytes-out": Price(
        0.085,
        "a GB from CloudFront to a caller in North America or Europe",
        _CLOUDFRONT,
        "AWS",
        _LATER,
    ),
    "bytes-in": Price(
        0.02,
        "a GB from CloudFront to its origin",
        _CLOUDFRONT,
        "AWS; figure from public copies of its price list",
        _LATER,
    ),
    "log": Price(0.5, "a GB of log", "https://www.duckbillgroup.com/?p=9080"),
    "alarm": Price(
        0.1,
        "a metric of an alarm and month",
        "https://c3x.dev/resources/aws/aws_cloudwatch_metric_alarm",
    ),
    "metric": Price(
        0.3,
        "a custom metric and month, divided by hours",
        "https://cal53.calculator.city/cloudwatch-custom-metrics-calculator/",
    ),
    "dashboard": Price(
        3.0,
        "a CloudWatch dashboard and month, beyond three in an account",
        "https://www.factualminds.com/blog/amazon-cloudwatch-pricing-metrics-logs-alarms-dashboards/",
        found=_LATER,
    ),
    "secret": Price(
        0.4,
        "a secret and month",
        "https://hivebook.wiki/wiki/aws-secrets-manager-rotated-secrets-dynamic-db-credentials-kms",
    ),
    "secret-read": Price(
        5.0,
        "a million reads of secrets",
        "https://hivebook.wiki/wiki/aws-secrets-manager-rotated-secrets-dynamic-db-credentials-kms",
        found=_LATEST,
    ),
    "acl": Price(5.0, "a web ACL and month, WAF", _WAF),
    "rule": Price(1.0, "a rule and month, WAF", _WAF),
    "waf": Price(0.6, "a million requests, WAF", _WAF),
    "vcpu": Price(0.03238, "a vCPU and hour, Fargate on arm64", _FARGATE),
    "gb": Price(0.00356, "a GB and hour, Fargate on arm64", _FARGATE),
    "balancer": Price(
        0.0225,
        "a load balancer and hour; traffic costs extra",
        "https://awsnegotiations.com/elastic-load-balancer-cost.html",
    ),
    "address": Price(
        0.005,
        "a public IPv4 address and hour",
        "https://www.doit.com/aws-public-ipv4-price-increase-the-complete-guide/",
    ),
}
PEERS: Final = (
    Peer(
        20,
        "50,000 emails of Resend's Pro plan, then 0.90 for 1,000",
        "https://resend-cu3u3cwfg-resend.vercel.app/changelog/pay-as-you-go-pricing",
        "Resend; 650 for a million at https://flexprice.io/blog/detailed-resend-pricing-guide",
        name="Resend",
        shown=(
            "20.00",
            "425.00 or less: 50,000 in the plan, the rest by the thousand",
            "by agreement; 650 for the first million",
        ),
    ),
    Peer(
        15,
        "10,000 emails of Postmark's Basic plan, then 1.80 for 1,000",
        "https://postmarkapp.com/support/article/understanding-your-postmark-invoice",
        "Postmark; Pro 16.50, then 1.30, at https://tiergauge.com/migrate/postmark-to-resend/",
        name="Postmark",
        shown=(
            "15.00",
            "653.50 or less: 10,000 in the Pro plan, the rest by the thousand",
            "by agreement",
        ),
    ),
)


def old(prices: Iterable[Price], today: date) -> Iterator[str]:
    """Return a line for each price that was found more than 120 days before today."""
    for price in prices:
        if (age := today - price.found) > _OLD:
            yield (
                f"{price.dollars:g} dollars for {price.unit}: found {age.days} days ago, on"
                f" {price.found}. Look it up again."
            )


def main() -> None:
    """Print the old prices."""
    for line in old([*PRICES.values(), *PEERS], datetime.now(UTC).date()):
        print(line)


if __name__ == "__main__":
    main()
