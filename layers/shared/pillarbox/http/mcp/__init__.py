"""The MCP server: an agent's tools, which run the use cases of the API (modelcontextprotocol.io).

Each request is complete in itself: there is no session, no stream, and nothing to keep between
requests.
"""
