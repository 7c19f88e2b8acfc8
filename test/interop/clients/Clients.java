import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.rdfconnection.RDFConnectionRemote;
import org.apache.jena.sparql.exec.http.QueryExecutionHTTP;
import org.apache.jena.sparql.exec.http.QuerySendMode;
import org.eclipse.rdf4j.model.Statement;
import org.eclipse.rdf4j.query.QueryResults;
import org.eclipse.rdf4j.repository.sparql.SPARQLRepository;

/**
 * Asks one endpoint with Jena's RDFConnection and RDF4J's SPARQLRepository: each query form in each format that the client
 * offers. Usage: java Clients.java ENDPOINT. Prints one JSON object a line, as clients.py does.
 */
public class Clients {
  static final String NAMED = "?s <http://xmlns.com/foaf/0.1/name> ?name";
  static final Map<String, String> QUERIES =
      Map.of(
          "SELECT", "SELECT ?s ?name { " + NAMED + " } ORDER BY ?name LIMIT 3",
          "ASK", "ASK { " + NAMED + " }",
          "CONSTRUCT", "CONSTRUCT { " + NAMED + " } WHERE { { SELECT * { " + NAMED + " } ORDER BY ?name LIMIT 3 } }",
          "DESCRIBE", "DESCRIBE ?s { { SELECT ?s { " + NAMED + " } ORDER BY ?name LIMIT 1 } }");
  static final List<String> ROWS =
      List.of("default", "application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/tab-separated-values");
  static final List<String> GRAPHS =
      List.of("default", "text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json", "application/trig", "application/n-quads");

  public static void main(String[] arguments) throws Exception {
    jena(arguments[0]);
    rdf4j(arguments[0]);
    System.exit(0);
  }

  static void jena(String endpoint) {
    for (String format : ROWS) {
      report("Jena", "SELECT", format, () -> {
        try (QueryExecution execution = execution(endpoint, "SELECT", format)) {
          int rows = 0;
          for (var answers = execution.execSelect(); answers.hasNext(); answers.next()) rows++;
          return rows;
        }
      });
    }
    for (String format : ROWS.subList(0, 3)) {
      report("Jena", "ASK", format, () -> {
        try (QueryExecution execution = execution(endpoint, "ASK", format)) {
          return execution.execAsk();
        }
      });
    }
    for (String format : GRAPHS) {
      report("Jena", "CONSTRUCT", format, () -> {
        try (QueryExecution execution = execution(endpoint, "CONSTRUCT", format)) {
          return execution.execConstruct().size();
        }
      });
      report("Jena", "DESCRIBE", format, () -> {
        try (QueryExecution execution = execution(endpoint, "DESCRIBE", format)) {
          return execution.execDescribe().size();
        }
      });
    }
    for (QuerySendMode mode : List.of(QuerySendMode.asPost, QuerySendMode.asPostForm, QuerySendMode.asGetAlways)) {
      report("Jena", "SELECT", mode.name(), () -> {
        try (QueryExecution execution =
            QueryExecutionHTTP.create().endpoint(endpoint).query(QUERIES.get("SELECT")).sendMode(mode).build()) {
          int rows = 0;
          for (var answers = execution.execSelect(); answers.hasNext(); answers.next()) rows++;
          return rows;
        }
      });
    }
    report("Jena RDFConnection", "CONSTRUCT", "default", () -> {
      try (var connection = RDFConnectionRemote.service(endpoint).build()) {
        return connection.queryConstruct(QUERIES.get("CONSTRUCT")).size();
      }
    });
  }

  static QueryExecution execution(String endpoint, String form, String format) {
    var builder = QueryExecutionHTTP.create().endpoint(endpoint).query(QUERIES.get(form));
    return (format.equals("default") ? builder : builder.acceptHeader(format)).build();
  }

  static void rdf4j(String endpoint) {
    var repository = new SPARQLRepository(endpoint);
    try (var connection = repository.getConnection()) {
      report("RDF4J", "SELECT", "default", () -> {
        try (var answer = connection.prepareTupleQuery(QUERIES.get("SELECT")).evaluate()) {
          return (int) answer.stream().count();
        }
      });
      report("RDF4J", "ASK", "default", () -> connection.prepareBooleanQuery(QUERIES.get("ASK")).evaluate());
      for (String form : List.of("CONSTRUCT", "DESCRIBE")) {
        report("RDF4J", form, "default", () -> {
          try (var answer = connection.prepareGraphQuery(QUERIES.get(form)).evaluate()) {
            List<Statement> statements = QueryResults.asList(answer);
            return statements.size();
          }
        });
      }
      report("RDF4J", "statements", "default", () -> {
        var name = connection.getValueFactory().createIRI("http://xmlns.com/foaf/0.1/name");
        try (var found = connection.getStatements(null, name, null)) {
          return found.stream().count() > 0;
        }
      });
    }
    repository.shutDown();
  }

  static void report(String client, String form, String format, Callable<Object> work) {
    Object outcome;
    try {
      outcome = work.call();
    } catch (Exception | LinkageError error) {
      outcome = quoted(error.getClass().getSimpleName() + ": " + error.getMessage());
    }
    System.out.printf(
        "{\"client\": %s, \"form\": %s, \"format\": %s, \"outcome\": %s}%n",
        quoted(client), quoted(form), quoted(format), outcome);
  }

  static String quoted(String text) {
    return '"' + text.replaceAll("[\\x00-\\x1f\"\\\\]", " ") + '"';
  }
}
