import com.bigdata.journal.BufferMode;
import com.bigdata.rdf.sail.BigdataSail;
import com.bigdata.rdf.sail.BigdataSailRepository;
import java.io.File;
import java.io.OutputStream;
import java.util.Properties;
import org.openrdf.query.BooleanQuery;
import org.openrdf.query.GraphQuery;
import org.openrdf.query.Query;
import org.openrdf.query.QueryLanguage;
import org.openrdf.query.TupleQuery;
import org.openrdf.query.resultio.sparqljson.SPARQLBooleanJSONWriter;
import org.openrdf.query.resultio.sparqljson.SPARQLResultsJSONWriter;
import org.openrdf.rio.RDFFormat;
import org.openrdf.rio.ntriples.NTriplesWriter;

/** Blazegraph in memory, with quads and without inference. Its argument is a file of N-Quads. */
class Engine {
  public static void main(String[] args) throws Exception {
    var properties = new Properties();
    properties.setProperty(BigdataSail.Options.BUFFER_MODE, BufferMode.MemStore.toString());
    properties.setProperty("com.bigdata.rdf.store.AbstractTripleStore.axiomsClass", "com.bigdata.rdf.axioms.NoAxioms");
    properties.setProperty("com.bigdata.rdf.store.AbstractTripleStore.quads", "true");
    properties.setProperty("com.bigdata.rdf.store.AbstractTripleStore.statementIdentifiers", "false");
    properties.setProperty("com.bigdata.rdf.sail.truthMaintenance", "false");
    var repository = new BigdataSailRepository(new BigdataSail(properties));
    repository.initialize();
    var connection = repository.getUnisolatedConnection();
    connection.begin();
    connection.add(new File(args[0]), "urn:base:", RDFFormat.NQUADS);
    connection.commit();
    connection.close();
    SparqlServer.start((query, body) -> write(repository, query, body));
  }

  private static String write(BigdataSailRepository repository, String text, OutputStream body) throws Exception {
    var connection = repository.getReadOnlyConnection();
    try {
      Query query = connection.prepareQuery(QueryLanguage.SPARQL, text, "urn:base:");
      if (query instanceof GraphQuery graph) {
        graph.evaluate(new NTriplesWriter(body));
        return SparqlServer.triples;
      }
      if (query instanceof BooleanQuery ask) new SPARQLBooleanJSONWriter(body).handleBoolean(ask.evaluate());
      else ((TupleQuery) query).evaluate(new SPARQLResultsJSONWriter(body));
      return SparqlServer.rows;
    } finally {
      connection.close();
    }
  }
}
