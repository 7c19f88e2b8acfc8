"""Asks one endpoint with SPARQLWrapper, rdflib and pandas: each query form in each format that the client offers.

Usage: clients.py ENDPOINT. Prints one JSON object a line: {"client", "form", "format", "outcome"}. An outcome is what a
reader of the answer needs: rows, triples, true or false, or the error.
"""

import csv
import io
import json
import sys

import pandas
import rdflib
import SPARQLWrapper as sw
from rdflib.plugins.stores.sparqlstore import SPARQLStore

endpoint = sys.argv[1]
named = "?s <http://xmlns.com/foaf/0.1/name> ?name"
queries = {
    "SELECT": f"SELECT ?s ?name {{ {named} }} ORDER BY ?name LIMIT 3",
    "ASK": f"ASK {{ {named} }}",
    "CONSTRUCT": f"CONSTRUCT {{ {named} }} WHERE {{ {{ SELECT * {{ {named} }} ORDER BY ?name LIMIT 3 }} }}",
    "DESCRIBE": f"DESCRIBE ?s {{ {{ SELECT ?s {{ {named} }} ORDER BY ?name LIMIT 1 }} }}",
}
wrapper_formats = [sw.JSON, sw.XML, sw.TURTLE, sw.N3, sw.RDF, sw.RDFXML, sw.CSV, sw.TSV, sw.JSONLD]


def report(client, form, name, work):
    try:
        outcome = work()
    except Exception as error:  # Whatever a client raises is the finding.
        outcome = f"{type(error).__name__}: {str(error)[:200]}"
    print(json.dumps({"client": client, "form": form, "format": name, "outcome": outcome}), flush=True)


def size(converted, form):
    """What SPARQLWrapper's conversion gave, as a number of rows or triples, or as the boolean."""
    if isinstance(converted, rdflib.Graph):
        return len(converted)
    if isinstance(converted, dict):
        return converted["boolean"] if "boolean" in converted else len(converted["results"]["bindings"])
    if hasattr(converted, "getElementsByTagName"):
        booleans = converted.getElementsByTagName("boolean")
        return booleans[0].firstChild.data == "true" if booleans else len(converted.getElementsByTagName("result"))
    text = converted.decode() if isinstance(converted, bytes) else str(converted)
    if form in ("CONSTRUCT", "DESCRIBE"):
        return len(rdflib.Graph().parse(data=text, format="n3"))
    return len(list(csv.reader(io.StringIO(text)))) - 1


def wrapped(form, name, method):
    client = sw.SPARQLWrapper(endpoint)
    client.setQuery(queries[form])
    client.setMethod(method)
    client.setReturnFormat(name)
    return size(client.query().convert(), form)


def stored(form, name):
    store = SPARQLStore(endpoint, returnFormat=name)
    answer = store.query(queries[form])
    if answer.type == "ASK":
        return answer.askAnswer
    return len(answer.graph) if answer.type in ("CONSTRUCT", "DESCRIBE") else len(list(answer))


for form in queries:
    default = sw.SPARQLWrapper(endpoint)
    default.setQuery(queries[form])
    report("SPARQLWrapper", form, "default", lambda: size(default.query().convert(), form))
    for name in wrapper_formats:
        for method in (sw.GET, sw.POST):
            report("SPARQLWrapper", form, f"{name} by {method}", lambda: wrapped(form, name, method))
    for name in ("xml", "json", "csv", "tsv", "application/rdf+xml"):
        report("rdflib SPARQLStore", form, name, lambda: stored(form, name))

graph = rdflib.Graph(SPARQLStore(endpoint))
report("rdflib Graph", "SELECT", "default", lambda: len(list(graph.query(queries["SELECT"]))))
report("rdflib Graph", "triples", "default", lambda: len(list(graph.triples((None, rdflib.FOAF.name, None)))) > 0)
service = f"SELECT * {{ SERVICE <{endpoint}> {{ {named} }} }} LIMIT 3"
report("rdflib SERVICE", "SELECT", "default", lambda: len(rdflib.Graph().query(service)))
url = f"{endpoint}?{__import__('urllib.parse').parse.urlencode({'query': queries['SELECT'], 'format': 'csv'})}"
report("pandas", "SELECT", "csv", lambda: len(pandas.read_csv(url)))
