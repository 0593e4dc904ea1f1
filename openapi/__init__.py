"""The OpenAPI 3.1 document of the HTTP API, made from its routes and wire models.

Nothing here is deployed. What the models cannot say (rules that validators
check, answers, errors) stands beside them, and tests hold it to the code.
"""
