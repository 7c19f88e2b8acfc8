"""Prints what other MCP servers for SPARQL show a model, as JSON: their tools, and their answers about an endpoint of a service.

Usage: mcp-servers.py URL QUERY, with the URL of a SPARQL endpoint that has a VoID description.
"""

import asyncio
import json
import os
import sys

endpoint, query = sys.argv[1:3]

# sparql-llm wants a model and an index of its documents at import; its tools are listed without them.
os.environ["AUTO_INIT"] = "false"
import fastembed


class NoModel:
    def __init__(self, *args, **options):
        pass

    @staticmethod
    def list_supported_models():
        return [{"model": "BAAI/bge-small-en-v1.5", "dim": 384}]


fastembed.TextEmbedding = NoModel


async def tools(server):
    listed = await server.list_tools()
    return json.dumps([{"name": t.name, "description": t.description, "parameters": t.inputSchema} for t in listed])


async def main():
    # What they log goes to standard error with all else.
    out, sys.stdout = sys.stdout, sys.stderr
    from mcp_sparql import server as mcp_sparql
    from sparql_llm import mcp_server as sparql_llm
    from sparql_llm.loaders.sparql_void_shapes_loader import SparqlVoidShapesLoader

    model = mcp_sparql.SparqlQueryInput
    formats = [each.value for each in mcp_sparql.OutputFormat]
    rows = {}
    for each in formats:
        rows[each] = await mcp_sparql.sparql_query(model(endpoint=endpoint, query=query, output_format=each))
    shapes = SparqlVoidShapesLoader(endpoint_url=endpoint).load()
    found = {
        "mcp-sparql": {"tools": await tools(mcp_sparql.mcp), "rows": rows},
        "sparql-llm": {
            "tools": await tools(sparql_llm.mcp),
            "schema": "\n".join(json.dumps(shape.metadata.get("answer", shape.page_content)) for shape in shapes),
        },
    }
    print(json.dumps(found), file=out)


asyncio.run(main())
