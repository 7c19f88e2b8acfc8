#!/usr/bin/env bash
# RDF4J 5.1.2 (Maven org.eclipse.rdf4j:rdf4j-sail-memory): beside VALUES and a triple pattern, MINUS in a group of its own removes rows by
# variables that are bound outside of that group only. Needs Java 17 and Maven beside a shell.
#
# Expected: 1 row each time. The group { ?a <urn:knows> ?b MINUS { ?s <urn:size> ?v } } is evaluated by itself and then joined (SPARQL 1.1 Query,
# section 18.2.2); its two sides share no variable, so MINUS removes nothing (section 8.3.1). Without VALUES, or with VALUES alone, it is so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>rdf4j</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.eclipse.rdf4j</groupId><artifactId>rdf4j-sail-memory</artifactId><version>5.1.2</version></dependency>
    <dependency><groupId>org.eclipse.rdf4j</groupId><artifactId>rdf4j-repository-sail</artifactId><version>5.1.2</version></dependency>
    <dependency><groupId>org.eclipse.rdf4j</groupId><artifactId>rdf4j-rio-turtle</artifactId><version>5.1.2</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
cat >Run.java <<'JAVA'
import java.io.StringReader;
import org.eclipse.rdf4j.repository.sail.SailRepository;
import org.eclipse.rdf4j.rio.RDFFormat;
import org.eclipse.rdf4j.sail.memory.MemoryStore;

public class Run {
  public static void main(String[] queries) throws Exception {
    var repository = new SailRepository(new MemoryStore());
    try (var connection = repository.getConnection()) {
      connection.add(new StringReader("<urn:one> <urn:size> 7 . <urn:ada> <urn:knows> <urn:bob> ."), "urn:base:", RDFFormat.TURTLE);
      for (var query : queries) {
        var rows = connection.prepareTupleQuery(query).evaluate().stream().count();
        System.out.println(rows + " row(s): " + query);
      }
    }
    repository.shutDown();
  }
}
JAVA
inner='{ ?a <urn:knows> ?b MINUS { ?s <urn:size> ?v } }'
keys='VALUES (?s ?b) { (<urn:one> <urn:bob>) }'
queries=("SELECT * { $keys ?s <urn:size> ?v . $inner }" "SELECT * { ?s <urn:size> ?v . $inner }" "SELECT * { $keys $inner }")
seen=$(java -cp 'jars/*' Run.java "${queries[@]}" 2>/dev/null)
known="0 row(s): ${queries[0]}
1 row(s): ${queries[1]}
1 row(s): ${queries[2]}"
echo "expected: 1 row each time"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
