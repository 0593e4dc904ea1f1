"""Generate docs/openapi.json, http/routes.py, http/mcp/tools.json, and parts of docs/.

Nothing here is deployed. The document is made from the operations, the wire models and the types
of responses. This package adds what these cannot say: texts, examples, and the rules that
validators check. Tests compare it with the code.
"""
