"""Asks queries as the users of Python's client libraries do, with the libraries' defaults.

Usage: situations.py FILE. The file holds a JSON list of {"situation", "url", "form", "query"}, where CLIENT in a URL stands for
the client's name in lower case. Prints one JSON object a line: {"client", "situation", "outcome"}. An outcome is a list of rows (nulls and texts,
with what the client shows of a language and a direction), a boolean, a number of triples, or {"error"}.
"""

import json
import sys
import urllib.parse
import urllib.request

import pandas
import pyoxigraph
import rdflib
import sparql_dataframe
import sparqldataframe
import sparqlite
import SPARQLWrapper as sw
from rdflib.plugins.stores.sparqlstore import SPARQLStore


def table_of(document):
    """The rows of SPARQL JSON."""
    if "boolean" in document:
        return document["boolean"]
    names = document["head"]["vars"]
    rows = document["results"]["bindings"]
    return [[cell_of(row[name]) if name in row else None for name in names] for row in rows]


def cell_of(term):
    return text_of(term["value"], term.get("xml:lang"), term.get("its:dir"))


def text_of(value, language, direction=None):
    return str(value) + (f"@{language}" if language else "") + (f"--{direction}" if direction else "")


def frame_of(frame):
    return [[None if pandas.isna(cell) else str(cell) for cell in row] for row in frame.itertuples(index=False)]


def with_wrapper(url, form, query):
    client = sw.SPARQLWrapper(url)
    client.setQuery(query)
    if form != "CONSTRUCT":
        client.setReturnFormat(sw.JSON)
    found = client.queryAndConvert()
    return len(found) if form == "CONSTRUCT" else table_of(found)


def with_store(url, form, query):
    """rdflib's Dataset over an endpoint, which names its default graph in each request."""
    found = rdflib.Dataset(SPARQLStore(url), default_union=False).query(query)
    if form == "ASK":
        return found.askAnswer
    if form == "CONSTRUCT":
        return len(found.graph)
    return [[None if term is None else text_of(term, getattr(term, "language", None)) for term in row] for row in found]


def with_pandas(url, form, query):
    if form != "SELECT":
        return None
    mark = "&" if "?" in url else "?"
    return frame_of(pandas.read_csv(url + mark + urllib.parse.urlencode({"query": query, "format": "csv"}), dtype=str))


def with_pyoxigraph(url, form, query):
    accept = "text/turtle" if form == "CONSTRUCT" else "application/sparql-results+json"
    body = urllib.parse.urlencode({"query": query}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, {"Accept": accept})) as answer:
        data = answer.read()
    if form == "CONSTRUCT":
        return len(list(pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.TURTLE)))
    found = pyoxigraph.parse_query_results(data, format=pyoxigraph.QueryResultsFormat.JSON)
    if form == "ASK":
        return bool(found)
    return [[None if term is None else shown(term) for term in row] for row in found]


def shown(term):
    if isinstance(term, pyoxigraph.Literal):
        # A base direction is written as a part of the language here.
        return text_of(term.value, term.language, str(getattr(term, "direction", None) or ""))
    return term.value


def with_sparqlite(url, form, query):
    # By default it repeats six times within half a minute where an endpoint fails.
    with sparqlite.SPARQLClient(url, max_retries=0) as client:
        if form == "CONSTRUCT":
            return client.construct(query).decode().count(" .\n")
        return table_of(client.query(query))


def with_sparql_dataframe(url, form, query):
    return frame_of(sparql_dataframe.get(url, query)) if form == "SELECT" else None


def with_sparqldataframe(url, form, query):
    return frame_of(sparqldataframe.query(url, query)) if form == "SELECT" else None


clients = {
    "SPARQLWrapper": with_wrapper,
    "rdflib": with_store,
    "pandas": with_pandas,
    "pyoxigraph": with_pyoxigraph,
    "sparqlite": with_sparqlite,
    "sparql_dataframe": with_sparql_dataframe,
    "sparqldataframe": with_sparqldataframe,
}

with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)
for name, client in clients.items():
    for one in asked:
        try:
            outcome = client(one["url"].replace("CLIENT", name.lower().replace("_", "-")), one["form"], one["query"])
        except Exception as error:  # Whatever a client raises is the finding.
            outcome = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
        if outcome is not None:
            print(json.dumps({"client": name, "situation": one["situation"], "outcome": outcome}), flush=True)
