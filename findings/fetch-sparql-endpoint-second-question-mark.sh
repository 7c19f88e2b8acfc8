#!/usr/bin/env bash
# fetch-sparql-endpoint 7.2.0 (the client that Comunica uses), method GET: an endpoint URL that has a parameter gets a second "?", so
# the server sees no query, and the parameter has another value. POST keeps the URL.
#
# Expected: /sparql?graph=a&query=... The query string of a GET is the list of all parameters (SPARQL 1.1 Protocol, section 2.1.1;
# application/x-www-form-urlencoded separates them by "&").
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund fetch-sparql-endpoint@7.2.0 >/dev/null
cat >run.mjs <<'JS'
import { createServer } from "node:http";
import { SparqlEndpointFetcher } from "fetch-sparql-endpoint";

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const got = [...searchParams].map(([name, value]) => `${name}=${value}`).join("  ");
  console.log(request.method, pathname, got);
  response.setHeader("Content-Type", "application/sparql-results+json");
  response.end('{"head":{},"boolean":true}');
});
server.listen(0, "127.0.0.1", async () => {
  for (const method of ["POST", "GET"]) {
    const client = new SparqlEndpointFetcher({ method });
    await client.fetchAsk(`http://127.0.0.1:${server.address().port}/sparql?graph=a`, "ASK {}");
  }
  server.close();
});
JS
seen=$(node run.mjs)
known='POST /sparql graph=a
GET /sparql graph=a?query=ASK {}'
echo 'expected: GET /sparql graph=a  query=ASK {}'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
