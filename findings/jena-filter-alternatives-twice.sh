#!/usr/bin/env bash
# Apache Jena ARQ 5.6.0 (Maven org.apache.jena:jena-cmds; 6.2.0 does the same): a solution for which both sides of || are true in a
# FILTER comes twice, where one side compares its variable with an IRI. COUNT counts it twice. Not so without the optimiser. Needs
# Java 17 and Maven beside a shell.
#
# Expected: once. FILTER keeps the solutions for which its expression is true, each as often as it was there (SPARQL 1.1 Query,
# section 18.5, Filter: the cardinality is that of the multiset it filters).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>jena</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.jena</groupId><artifactId>jena-cmds</artifactId><version>5.6.0</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
echo '<http://example.org/a> <http://example.org/size> 1 .' >data.ttl
run() {
  echo "PREFIX : <http://example.org/> SELECT (COUNT(*) AS ?n) { ?s :size ?size FILTER($1) }" >query.rq
  java -cp 'jars/*' arq.arq "--optimize=$2" --data data.ttl --query query.rq --results csv | tail -1 | tr -d '\r'
}
seen="?s = :a || REGEX(STR(?s), \"a\$\"): $(run '?s = :a || REGEX(STR(?s), "a$")' on)
the same, not optimised: $(run '?s = :a || REGEX(STR(?s), "a$")' off)
isIRI(?s) || REGEX(STR(?s), \"a\$\"): $(run 'isIRI(?s) || REGEX(STR(?s), "a$")' on)"
known="?s = :a || REGEX(STR(?s), \"a\$\"): 2
the same, not optimised: 1
isIRI(?s) || REGEX(STR(?s), \"a\$\"): 1"
echo "one triple; expected: 1 in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
