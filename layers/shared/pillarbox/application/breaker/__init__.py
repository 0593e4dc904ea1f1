"""The breaker: pause what ruins the reputation of the AWS account, and say why."""
