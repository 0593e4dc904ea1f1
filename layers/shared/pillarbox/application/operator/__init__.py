"""The use cases of the operators of the service, about all of its accounts."""
