#!/usr/bin/env bash
# rdfxml-streaming-parser 3.3.0 (npm): an rdf:parseType that it does not know is not read as Literal but ignored, so that markup becomes
# triples; rdf:parseType="Triple" without rdf:version="1.2" loses the triple without an error.
#
# Expected: one triple whose object is an XML literal, in both. To RDF 1.1 XML Syntax (section 7.2.20, parseTypeOtherPropertyElt) each
# value of rdf:parseType but Resource, Literal and Collection means Literal; rdflib 7.6.0, run beside it, reads them so. Needs Python 3.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund rdfxml-streaming-parser@3.3.0 >/dev/null
python3 -m venv python
python/bin/pip install --quiet rdflib==7.6.0
for type in Literal Other Triple; do
  cat >"$type.rdf" <<RDF
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="urn:">
  <rdf:Description rdf:about="urn:s"><p rdf:parseType="$type"><rdf:Description rdf:about="urn:a"><b>o</b></rdf:Description></p></rdf:Description>
</rdf:RDF>
RDF
done
cat >run.mjs <<'JS'
import { createReadStream } from "node:fs";
import { RdfXmlParser } from "rdfxml-streaming-parser";

for (const type of ["Literal", "Other", "Triple"]) {
  const objects = [];
  for await (const { object } of createReadStream(`${type}.rdf`).pipe(new RdfXmlParser()))
    objects.push(object.datatype?.value.split("#")[1] ?? object.termType);
  console.log(`${type}: ${objects.join(" and ") || "no triple"}`);
}
JS
cat >run.py <<'PY'
import rdflib
for name in ["Literal", "Other", "Triple"]:
    objects = [o for o in rdflib.Graph().parse(f"{name}.rdf", format="xml").objects()]
    print(f"{name} in rdflib:", *[o.datatype.split("#")[1] if getattr(o, "datatype", None) else type(o).__name__ for o in objects])
PY
seen="$(node run.mjs)
$(python/bin/python run.py)"
known='Literal: XMLLiteral
Other: NamedNode and string
Triple: no triple
Literal in rdflib: XMLLiteral
Other in rdflib: XMLLiteral
Triple in rdflib: XMLLiteral'
echo "expected: XMLLiteral in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
