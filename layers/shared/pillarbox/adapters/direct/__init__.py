"""A client of DynamoDB and SQS, for the calls that somebody waits for (docs/decisions/aws.md).

It does what botocore does for the same call, and raises botocore's exceptions. What it does not
know, it leaves to botocore: `Endpoint.find` says when.
"""
