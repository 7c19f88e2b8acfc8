#!/usr/bin/env bash
# rdfxml-streaming-parser 3.3.0 and sparqlxml-parse 3.3.0: of a literal with a comment or a CDATA section in it, only the text
# behind the last one is left. No error is raised.
#
# Expected: "xy" and "a<b>c". A comment is no part of the character data, and CDATA sections are (XML 1.0, sections 2.5 and 2.7);
# the text event of RDF/XML is the whole character data (RDF 1.1 XML Syntax, sections 6.1.4 and 7.2.16).
# Why: both parsers take each text event of the XML reader for the whole text, and the reader reports one before and one behind.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund rdfxml-streaming-parser@3.3.0 sparqlxml-parse@3.3.0 >/dev/null
cat >run.mjs <<'JS'
import { Readable } from "node:stream";
import { RdfXmlParser } from "rdfxml-streaming-parser";
import { SparqlXmlParser } from "sparqlxml-parse";

const inputs = ["x<!-- remark -->y", "a<![CDATA[<b>]]>c"];
for (const text of inputs) {
  const graph = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">
    <rdf:Description rdf:about="urn:s"><e:p>${text}</e:p></rdf:Description></rdf:RDF>`;
  for await (const quad of Readable.from([graph]).pipe(new RdfXmlParser()))
    console.log(`rdfxml-streaming-parser  ${text}  ${JSON.stringify(quad.object.value)}`);
  const rows = `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="o"/></head>
    <results><result><binding name="o"><literal>${text}</literal></binding></result></results></sparql>`;
  for await (const row of new SparqlXmlParser().parseXmlResultsStream(Readable.from([rows])))
    console.log(`sparqlxml-parse          ${text}  ${JSON.stringify(row.o.value)}`);
}
JS
seen=$(node run.mjs)
known='rdfxml-streaming-parser  x<!-- remark -->y  "y"
sparqlxml-parse          x<!-- remark -->y  "y"
rdfxml-streaming-parser  a<![CDATA[<b>]]>c  "c"
sparqlxml-parse          a<![CDATA[<b>]]>c  "c"'
echo 'expected: "xy" and "a<b>c" from both'
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
