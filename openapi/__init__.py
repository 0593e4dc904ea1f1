"""Generate docs/openapi.json, api.yaml, http/mcp/tools.json, tables of routes and parts of docs/.

Nothing in this package is deployed. The document is made from the operations, the wire models and
the types of responses. This package adds what these cannot say: texts, examples, and the rules that
validators check. Tests compare it with the code.
"""
