"""The stores in DynamoDB: one table for all records."""
