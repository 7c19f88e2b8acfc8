import fr.inria.corese.core.Graph;
import fr.inria.corese.core.api.Loader;
import fr.inria.corese.core.load.Load;
import fr.inria.corese.core.print.ResultFormat;
import fr.inria.corese.core.query.QueryProcess;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Corese in memory. Its argument is a file of N-Quads. */
class Engine {
  public static void main(String[] args) throws Exception {
    var graph = Graph.create();
    Load.create(graph).parse(args[0], Loader.format.NQUADS_FORMAT);
    SparqlServer.start((query, body) -> write(graph, query, body));
  }

  private static String write(Graph graph, String text, OutputStream body) throws Exception {
    var solutions = QueryProcess.create(graph).query(text);
    var isGraph = solutions.getGraph() != null;
    var format = ResultFormat.create(solutions, isGraph ? ResultFormat.format.NTRIPLES_FORMAT : ResultFormat.format.JSON_FORMAT);
    body.write(format.toString().getBytes(StandardCharsets.UTF_8));
    return isGraph ? SparqlServer.triples : SparqlServer.rows;
  }
}
