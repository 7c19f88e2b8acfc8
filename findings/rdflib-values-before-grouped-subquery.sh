#!/usr/bin/env bash
# rdflib 7.6.0 (PyPI): VALUES before a subquery with GROUP BY gives a solution for a term that has no group, without the aggregate.
# Needs Python 3 with venv beside a shell.
#
# Expected: one row. A subquery is evaluated before what stands around it (SPARQL 1.1 Query, section 12), and there is a group only
# for a key that has solutions (section 18.2.4.1), so nothing in it is compatible with <urn:none>. With VALUES behind the subquery
# rdflib has the one row.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rdflib==7.6.0
cat >run.py <<'PYTHON'
from rdflib import Graph

graph = Graph().parse(data="<urn:s1> <urn:link> <urn:some> . <urn:s2> <urn:link> <urn:some> .", format="turtle")
values = "VALUES ?i { <urn:some> <urn:none> }"
grouped = "{ SELECT ?i (COUNT(?s) AS ?n) { ?s <urn:link> ?i } GROUP BY ?i }"
for where in (f"{values} {grouped}", f"{grouped} {values}"):
    rows = sorted(" ".join(str(term) for term in row) for row in graph.query(f"SELECT ?i ?n {{ {where} }}"))
    print("; ".join(rows))
PYTHON
seen=$(python/bin/python run.py 2>&1)
known='urn:none None; urn:some 2
urn:some 2'
echo "expected: urn:some 2, twice"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
