#!/usr/bin/env bash
# Apache Jena ARQ 5.6.0 (Maven org.apache.jena:jena-cmds; 6.2.0 does the same): beside VALUES with UNDEF, a FILTER loses rows whose
# variable the pattern binds: it is judged before the pattern, when UNDEF is still unbound. Not so without the optimiser. Needs Java 17
# and Maven beside a shell.
#
# Expected: FILTER restricts the solutions of the whole group, wherever it stands in it (SPARQL 1.1 Query, section 5.2.2), and a row
# of UNDEF is compatible with each solution (section 18.3).
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
echo '@prefix : <http://example.org/> . :a :next :x . :b :next :y .' >data.ttl
run() {
  echo "PREFIX : <http://example.org/> SELECT ?s { ?s :next ?n . VALUES (?n ?s) { (:x :a) (UNDEF UNDEF) } $1 }" >query.rq
  echo "$(($(java -cp 'jars/*' arq.arq "--optimize=$2" --data data.ttl --query query.rq --results csv | wc -l) - 1)) rows"
}
seen="without FILTER: $(run '' on)
FILTER(isIRI(?s)): $(run 'FILTER(isIRI(?s))' on)
FILTER(isIRI(?s)), not optimised: $(run 'FILTER(isIRI(?s))' off)"
known="without FILTER: 3 rows
FILTER(isIRI(?s)): 1 rows
FILTER(isIRI(?s)), not optimised: 3 rows"
echo "expected: 3 rows in each line"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
