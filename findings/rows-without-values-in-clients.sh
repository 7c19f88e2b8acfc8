#!/usr/bin/env bash
# rdflib 7.6.0 (PyPI) and sparql-http-client 3.1.0 (npm): reading the rows of a result leaves out those in which no variable is
# bound. rdflib's len(result) counts them, iterating does not.
# Needs Python 3 with venv, and Node with npm.
#
# Expected: three rows. A solution mapping is a partial function from variables to terms (SPARQL 1.1 Query, section 18.1.8), and UNDEF in
# VALUES gives one without a variable (section 10.2); "bindings" has one element per solution (SPARQL 1.1 Query Results JSON, 3.2.1).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check rdflib==7.6.0
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund sparql-http-client@3.1.0 >/dev/null
cat >run.py <<'PYTHON'
from rdflib import Graph

result = Graph().query('SELECT ?x { VALUES ?x { UNDEF "a" UNDEF } }')
print("rdflib:", len(result), "by len,", len(list(result)), "read")
PYTHON
cat >run.mjs <<'JS'
import { createServer } from "node:http";
import Client from "sparql-http-client/ParsingClient.js";

const server = createServer((_, response) => {
  response.setHeader("Content-Type", "application/sparql-results+json");
  response.end('{"head":{"vars":["x"]},"results":{"bindings":[{},{"x":{"type":"literal","value":"a"}},{}]}}');
});
server.listen(0, "127.0.0.1", async () => {
  const { query } = new Client({ endpointUrl: `http://127.0.0.1:${server.address().port}/` });
  console.log("sparql-http-client:", (await query.select('SELECT ?x { VALUES ?x { UNDEF "a" UNDEF } }')).length, "read");
  server.close();
  server.closeAllConnections();
});
JS
seen=$(
  python/bin/python run.py 2>&1
  node run.mjs 2>&1
)
known='rdflib: 3 by len, 1 read
sparql-http-client: 1 read'
echo "expected: 3 everywhere"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
