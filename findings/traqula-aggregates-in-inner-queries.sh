#!/usr/bin/env bash
# @traqula/parser-sparql-1-2, version 1.3.1 (npm): an aggregate of a subquery is refused where EXISTS around the subquery stands in an
# aggregate. Needs Node and npm.
#
# Expected: the query is read. What is forbidden is an aggregate as a part of another one's expression (SPARQL 1.1 Query, errata-query-5);
# the columns of a subquery are of another query, which is evaluated first (section 12). sparqljs 3.7.4 and Oxigraph 0.5.11, run
# beside it, read it; all three read it with the subquery outside of the aggregate.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @traqula/parser-sparql-1-2@1.3.1 sparqljs@3.7.4 oxigraph@0.5.11 >/dev/null
cat >run.mjs <<'JS'
import { Parser } from "@traqula/parser-sparql-1-2";
import oxigraph from "oxigraph";
import sparqljs from "sparqljs";

const exists = "EXISTS { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } }";
const readers = {
  traqula: (query) => new Parser().parse(query),
  sparqljs: (query) => new sparqljs.Parser().parse(query),
  oxigraph: (query) => new oxigraph.Store().query(query),
};
for (const [name, read] of Object.entries(readers)) {
  for (const column of [`IF(${exists}, 1, 0)`, `SUM(IF(${exists}, 1, 0))`]) {
    let end = "read";
    try {
      read(`SELECT (${column} AS ?n) {}`);
    } catch (error) {
      end = error.message.split("\n")[0];
    }
    console.log(`${name}, ${column.startsWith("SUM") ? "in" : "outside of"} SUM: ${end}`);
  }
}
JS
seen=$(node run.mjs)
known='traqula, outside of SUM: read
traqula, in SUM: An aggregate function is not allowed within an aggregate function.
sparqljs, outside of SUM: read
sparqljs, in SUM: read
oxigraph, outside of SUM: read
oxigraph, in SUM: read'
echo "expected: read in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
