import java.io.File;
import java.io.OutputStream;
import org.eclipse.rdf4j.query.BooleanQuery;
import org.eclipse.rdf4j.query.GraphQuery;
import org.eclipse.rdf4j.query.Query;
import org.eclipse.rdf4j.query.TupleQuery;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLBooleanJSONWriter;
import org.eclipse.rdf4j.query.resultio.sparqljson.SPARQLResultsJSONWriter;
import org.eclipse.rdf4j.repository.sail.SailRepository;
import org.eclipse.rdf4j.rio.RDFFormat;
import org.eclipse.rdf4j.rio.ntriples.NTriplesWriter;
import org.eclipse.rdf4j.sail.memory.MemoryStore;

/** RDF4J's memory store; its default graph is the union of all graphs. Its argument is a file of N-Quads. */
class Engine {
  public static void main(String[] args) throws Exception {
    var repository = new SailRepository(new MemoryStore());
    try (var connection = repository.getConnection()) {
      connection.add(new File(args[0]), "urn:base:", RDFFormat.NQUADS);
    }
    SparqlServer.start((query, body) -> write(repository, query, body));
  }

  private static String write(SailRepository repository, String text, OutputStream body) {
    try (var connection = repository.getConnection()) {
      Query query = connection.prepareQuery(text);
      if (query instanceof GraphQuery graph) {
        graph.evaluate(new NTriplesWriter(body));
        return SparqlServer.triples;
      }
      if (query instanceof BooleanQuery ask) new SPARQLBooleanJSONWriter(body).handleBoolean(ask.evaluate());
      else ((TupleQuery) query).evaluate(new SPARQLResultsJSONWriter(body));
      return SparqlServer.rows;
    }
  }
}
