#!/usr/bin/env bash
# sparqljs 3.7.4: \u00E9 is resolved in strings, and is a syntax error in IRIs.
#
# Expected: <urn:ab\u00E9xy> is read; the specification has this very example (SPARQL 1.1 Query, section 19.2: code point escapes are
# processed before the grammar, anywhere in the query). @traqula/parser-sparql-1-2 1.3.1, run beside it, reads it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund sparqljs@3.7.4 @traqula/parser-sparql-1-2@1.3.1 >/dev/null
cat >run.mjs <<'JS'
import { Parser as TraqulaParser } from "@traqula/parser-sparql-1-2";
import sparqljs from "sparqljs";

const inIri = "SELECT * { ?s <urn:ab\\u00E9xy> ?o }";
const inString = 'SELECT * { ?s ?p "ab\\u00E9xy" }';
console.log("sparqljs, string:", new sparqljs.Parser().parse(inString).where[0].triples[0].object.value);
try {
  console.log("sparqljs, IRI:", new sparqljs.Parser().parse(inIri).where[0].triples[0].predicate.value);
} catch (error) {
  console.log("sparqljs, IRI:", error.message.split("\n")[0]);
}
console.log("traqula, IRI:", new TraqulaParser().parse(inIri).where.patterns[0].triples[0].predicate.value);
JS
seen=$(node run.mjs)
known='sparqljs, string: abéxy
sparqljs, IRI: Parse error on line 1:
traqula, IRI: urn:abéxy'
echo 'expected: urn:abéxy from both'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
