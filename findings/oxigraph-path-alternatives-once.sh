#!/usr/bin/env bash
# Oxigraph 0.5.13 (PyPI: pyoxigraph) and 0.5.11 (npm: oxigraph): a path with alternatives has a pair of nodes that two of them connect
# once. Written as a UNION it has it twice.
# Needs Python 3 with venv, and Node with npm.
#
# Expected: two solutions each time. Path(X, alt(P,Q), Y) is Union(Path(X, P, Y), Path(X, Q, Y)), which adds cardinalities (SPARQL 1.1
# Query, section 18.4); only *, + and ? are evaluated as sets.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check pyoxigraph==0.5.13
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund oxigraph@0.5.11 >/dev/null
cat >data.ttl <<'TURTLE'
<urn:ada> <urn:knows> <urn:bob> ; <urn:near> <urn:bob> .
TURTLE
cat >queries.txt <<'SPARQL'
SELECT * { ?s <urn:knows>|<urn:near> ?o }
SELECT * { <urn:ada> <urn:knows>|<urn:near> ?o }
SELECT * { { ?s <urn:knows> ?o } UNION { ?s <urn:near> ?o } }
SPARQL
cat >run.py <<'PYTHON'
import pyoxigraph

store = pyoxigraph.Store()
store.load(open("data.ttl", "rb").read(), format=pyoxigraph.RdfFormat.TURTLE)
print("pyoxigraph:", *(len(list(store.query(query))) for query in open("queries.txt")))
PYTHON
cat >run.mjs <<'JS'
import { readFileSync } from "node:fs";
import { Store } from "oxigraph";

const store = new Store();
store.load(readFileSync("data.ttl", "utf8"), { format: "text/turtle" });
const queries = readFileSync("queries.txt", "utf8").trim().split("\n");
console.log("oxigraph:", ...queries.map((query) => store.query(query).length));
JS
seen=$(
  python/bin/python run.py 2>&1
  node run.mjs 2>&1
)
known='pyoxigraph: 1 1 2
oxigraph: 1 1 2'
cat queries.txt
echo "expected: 2 2 2"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
