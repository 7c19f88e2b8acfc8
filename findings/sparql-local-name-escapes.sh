#!/usr/bin/env bash
# sparqljs 3.7.4 and @traqula/parser-sparql-1-2 1.3.1: a prefixed name with an escaped character keeps the backslash in its IRI, so
# the query asks for another property, and finds nothing.
#
# Expected: ex:b\~c is <urn:ex:b~c>. A backslash escapes a reserved character of a local name (SPARQL 1.1 Query, section 4.1.1.1 and
# PN_LOCAL_ESC; Turtle 1.1, section 6.4: it represents the character to its right). Oxigraph 0.5.11, run beside them, finds the triple.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund sparqljs@3.7.4 @traqula/parser-sparql-1-2@1.3.1 @traqula/algebra-sparql-1-2@1.3.1 \
  oxigraph@0.5.11 >/dev/null
cat >run.mjs <<'JS'
import { toAlgebra } from "@traqula/algebra-sparql-1-2";
import { Parser as TraqulaParser } from "@traqula/parser-sparql-1-2";
import { Store } from "oxigraph";
import sparqljs from "sparqljs";

const query = "PREFIX ex: <urn:ex:> SELECT ?o { ?s ex:b\\~c ?o }";
console.log("sparqljs", new sparqljs.Parser().parse(query).where[0].triples[0].predicate.value);
console.log("traqula", toAlgebra(new TraqulaParser().parse(query), {}).input.patterns[0].predicate.value);
const store = new Store();
store.load('<urn:s> <urn:ex:b~c> "found" .', { format: "nt" });
console.log("oxigraph", store.query(query)[0].get("o").value);
JS
seen=$(node run.mjs)
known='sparqljs urn:ex:b\~c
traqula urn:ex:b\~c
oxigraph found'
echo 'expected: urn:ex:b~c from both parsers'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
