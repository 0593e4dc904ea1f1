"""The queues in SQS: jobs and dead letters."""
