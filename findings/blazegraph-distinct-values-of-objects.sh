#!/usr/bin/env bash
# Blazegraph 2.1.4 (Maven com.blazegraph:bigdata-core; Wikidata runs a build of it): SELECT DISTINCT of a variable that VALUES binds to
# two terms or more, and that is an object in the pattern, has no solutions. Needs Java 17 and Maven beside a shell.
#
# Expected: two rows. VALUES is joined with the pattern (SPARQL 1.1 Query, sections 10 and 18.2.4.3), and DISTINCT only removes
# duplicates (section 15.3). The same query has them without DISTINCT, with one term, with a second column, and as GROUP BY.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>finding</groupId><artifactId>blazegraph</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>com.blazegraph</groupId><artifactId>bigdata-core</artifactId><version>2.1.4</version></dependency>
  </dependencies>
</project>
XML
mvn --batch-mode --quiet dependency:copy-dependencies -DoutputDirectory=jars
cat >Run.java <<'JAVA'
import com.bigdata.journal.BufferMode;
import com.bigdata.rdf.sail.BigdataSail;
import com.bigdata.rdf.sail.BigdataSailRepository;
import java.io.StringReader;
import java.util.Properties;
import org.openrdf.query.QueryLanguage;
import org.openrdf.rio.RDFFormat;

public class Run {
  public static void main(String[] queries) throws Exception {
    var properties = new Properties();
    properties.setProperty(BigdataSail.Options.BUFFER_MODE, BufferMode.MemStore.toString());
    var repository = new BigdataSailRepository(new BigdataSail(properties));
    repository.initialize();
    var connection = repository.getUnisolatedConnection();
    connection.begin();
    var data = "<urn:y1> <urn:link> <urn:v7> . <urn:y2> <urn:link> <urn:v8> .";
    connection.add(new StringReader(data), "urn:base:", RDFFormat.TURTLE);
    connection.commit();
    for (var query : queries) {
      var rows = connection.prepareTupleQuery(QueryLanguage.SPARQL, query).evaluate();
      var count = 0;
      for (; rows.hasNext(); rows.next()) count++;
      System.out.println("ROWS " + count + "  " + query);
    }
    connection.close();
    repository.shutDown();
    System.exit(0);
  }
}
JAVA
two='VALUES ?i { <urn:v7> <urn:v8> }'
seen=$(java -cp 'jars/*' Run.java \
  "SELECT DISTINCT ?i { $two ?y <urn:link> ?i }" \
  "SELECT ?i { $two ?y <urn:link> ?i }" \
  "SELECT DISTINCT ?i { VALUES ?i { <urn:v7> } ?y <urn:link> ?i }" \
  "SELECT DISTINCT ?i ?y { $two ?y <urn:link> ?i }" \
  "SELECT ?i { $two ?y <urn:link> ?i } GROUP BY ?i" 2>/dev/null | grep '^ROWS ')
known="ROWS 0  SELECT DISTINCT ?i { $two ?y <urn:link> ?i }
ROWS 2  SELECT ?i { $two ?y <urn:link> ?i }
ROWS 1  SELECT DISTINCT ?i { VALUES ?i { <urn:v7> } ?y <urn:link> ?i }
ROWS 2  SELECT DISTINCT ?i ?y { $two ?y <urn:link> ?i }
ROWS 2  SELECT ?i { $two ?y <urn:link> ?i } GROUP BY ?i"
echo "expected: 2 rows of the first query"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
