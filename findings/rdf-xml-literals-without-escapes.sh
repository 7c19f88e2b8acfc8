#!/usr/bin/env bash
# rdfxml-streaming-parser 3.3.0: the value of rdf:parseType="Literal" has its escapes resolved, so an XML literal is no XML any more.
#
# Expected: a value that is well-formed XML content, with `&lt;`, `&amp;` and `&quot;` in attributes (RDF 1.1 XML Syntax, section
# 7.2.17: the lexical form is the canonical form of the content; RDF 1.1 Concepts, section 5.2: rdf:XMLLiteral).
# Seen: `x < y & z`, and an attribute value that its own quotation mark ends.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund rdfxml-streaming-parser@3.3.0 >/dev/null
cat >run.mjs <<'JS'
import { Readable } from "node:stream";
import { RdfXmlParser } from "rdfxml-streaming-parser";

const graph = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">
  <rdf:Description rdf:about="urn:s">
    <e:p rdf:parseType="Literal"><b t="1 &quot; 2">x &lt; y &amp; z</b></e:p>
  </rdf:Description></rdf:RDF>`;
for await (const { object } of Readable.from([graph]).pipe(new RdfXmlParser()))
  console.log(`${object.value}  ${object.datatype.value}`);
JS
seen=$(node run.mjs)
known='<b t="1 " 2">x < y & z</b>  http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral'
echo 'expected: <b t="1 &quot; 2">x &lt; y &amp; z</b>'
echo "seen:     $seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
