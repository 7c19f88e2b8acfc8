"""Calls ten operations with the client that openapi-python-client makes of the OpenAPI document (the package fedway).

Usage: generated.py URL QUERY. Prints one JSON object of what was read, all of it by the generated types.
"""

import json
import sys

from fedway import Client
from fedway.api.agents import call_check_query, call_find_endpoints, call_run_query, list_tools
from fedway.api.catalogue import get_endpoint, list_endpoints
from fedway.api.operation import get_readiness
from fedway.api.queries import explain, get_run, query_table
from fedway.models import (
    CallCheckQueryBody,
    CallFindEndpointsBody,
    CallRunQueryBody,
    ExplainBody,
    ListToolsProfile,
    QueryTableBody,
)

url, query = sys.argv[1:]
client = Client(base_url=url)

endpoint = list_endpoints.sync(client=client, q="people", limit=1).endpoints[0]
table = query_table.sync(client=client, body=QueryTableBody(query=query, endpoint=endpoint.id))
texts = [
    call_find_endpoints.sync(client=client, body=CallFindEndpointsBody(question="people")).text,
    call_run_query.sync(client=client, body=CallRunQueryBody(query=query, endpoint="people")).text,
    call_check_query.sync(client=client, body=CallCheckQueryBody(query=query)).text,
]
print(
    json.dumps(
        {
            "id": endpoint.id,
            "rows": len(table.rows),
            "name": table.rows[0]["name"],
            "code": get_endpoint.sync(client=client, id="nobody").code,
            "plan": str(explain.sync(client=client, body=ExplainBody(query=query, endpoint="people")).kind),
            "run": str(get_run.sync(client=client, id=table.run).status),
            "ready": get_readiness.sync(client=client).ready,
            "tools": len(list_tools.sync(client=client, profile=ListToolsProfile.SMALL).tools),
            "texts": [len(text.splitlines()) for text in texts],
        }
    )
)
