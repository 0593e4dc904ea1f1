"""The service on one machine: what stands in for AWS, for DNS and for the world."""
