import { QueryEngine } from "@comunica/query-sparql";
import { type ISparqlEndpointFetcherArgs, SparqlEndpointFetcher } from "fetch-sparql-endpoint";

/** What a foreign client made of an answer: rows, triples, a boolean, or its error. */
export interface Outcome {
  readonly client: string;
  readonly form: string;
  readonly format: string;
  readonly outcome: number | boolean | string;
}

/** A route that answers queries, and what they read: the pattern of `named`, in a SERVICE clause where one is needed. */
interface Asked {
  readonly url: string;
  readonly where: string;
}

/** The names of people. */
export const named = "?s <http://xmlns.com/foaf/0.1/name> ?name";

export const queriesOf = ({ where }: Asked) => ({
  SELECT: `SELECT ?s ?name { ${where} } ORDER BY ?name LIMIT 3`,
  ASK: `ASK { ${where} }`,
  CONSTRUCT: `CONSTRUCT { ${named} } WHERE { { SELECT * { ${where} } ORDER BY ?name LIMIT 3 } }`,
  DESCRIBE: `DESCRIBE ?s { { SELECT ?s { ${where} } ORDER BY ?name LIMIT 1 } }`,
});

/** Comunica: each form, for a source that is said to be a SPARQL endpoint and for one that it has to find that out of. */
export async function askWithComunica(asked: Asked): Promise<readonly Outcome[]> {
  const engine = new QueryEngine();
  const ask = async (query: string, source: { value: string; type?: string }): Promise<number | boolean> => {
    const answer = await engine.query(query, { sources: [source], baseIRI: asked.url });
    if (answer.resultType === "boolean") return answer.execute();
    if (answer.resultType === "void") throw new TypeError("taken for an update");
    return sizeOf(await answer.execute());
  };
  const found: Outcome[] = [];
  for (const [form, query] of Object.entries(queriesOf(asked))) {
    const report = reportOf("Comunica", form);
    found.push(await report("source of type sparql", () => ask(query, { value: asked.url, type: "sparql" })));
    found.push(await report("source of unknown type", () => ask(query, { value: asked.url })));
  }
  return found;
}

/** fetch-sparql-endpoint: each way to send a query, and each format that it reads (by the parameter `format`). */
export async function askWithFetcher(asked: Asked): Promise<readonly Outcome[]> {
  const queries = queriesOf(asked);
  const ask = async (form: string, options: ISparqlEndpointFetcherArgs): Promise<number | boolean> => {
    const fetcher = new SparqlEndpointFetcher(options);
    if (form === "SELECT") return sizeOf(await fetcher.fetchBindings(asked.url, queries.SELECT));
    if (form === "ASK") return fetcher.fetchAsk(asked.url, queries.ASK);
    return sizeOf(await fetcher.fetchTriples(asked.url, form === "CONSTRUCT" ? queries.CONSTRUCT : queries.DESCRIBE));
  };
  const found: Outcome[] = [];
  for (const form of Object.keys(queries)) {
    const report = reportOf("fetch-sparql-endpoint", form);
    for (const options of sendModes) found.push(await report(JSON.stringify(options), () => ask(form, options)));
    for (const format of form === "SELECT" || form === "ASK" ? ["json", "xml"] : graphFormats) {
      const additionalUrlParams = new URLSearchParams({ format });
      found.push(await report(format, () => ask(form, { additionalUrlParams })));
    }
  }
  return found;
}

const sendModes = [{ method: "GET" }, { method: "POST" }, { method: "POST", directPost: true }] as const;
const graphFormats = ["turtle", "ntriples", "n3", "trig", "nquads"];

/** sparql-http-client: each way to send a query. @param packages the folder that it is installed in */
export async function askWithHttpClient(asked: Asked, packages: string): Promise<readonly Outcome[]> {
  const { default: Client }: HttpClientModule = await import(`${packages}/sparql-http-client/ParsingClient.js`);
  const { query } = new Client({ endpointUrl: asked.url });
  const { SELECT, ASK, CONSTRUCT, DESCRIBE } = queriesOf(asked);
  const found: Outcome[] = [];
  for (const operation of ["get", "postUrlencoded", "postDirect"]) {
    const report = (form: string, work: () => Promise<number | boolean>): Promise<Outcome> =>
      reportOf("sparql-http-client", form)(operation, work);
    found.push(
      await report("SELECT", async () => (await query.select(SELECT, { operation })).length),
      await report("ASK", () => query.ask(ASK, { operation })),
      await report("CONSTRUCT", async () => (await query.construct(CONSTRUCT, { operation })).size),
      await report("DESCRIBE", async () => (await query.construct(DESCRIBE, { operation })).size),
    );
  }
  return found;
}

type Ask<Answer> = (query: string, options: { readonly operation: string }) => Promise<Answer>;
interface HttpClientModule {
  readonly default: new (options: {
    readonly endpointUrl: string;
  }) => {
    readonly query: {
      readonly select: Ask<readonly unknown[]>;
      readonly ask: Ask<boolean>;
      readonly construct: Ask<{ readonly size: number }>;
    };
  };
}

/** What fetch-sparql-endpoint says when it asks for triples where rows are, and the other way round, or by another method. */
export async function askForMore(asked: Asked): Promise<readonly Outcome[]> {
  const fetcher = new SparqlEndpointFetcher();
  const { SELECT, ASK, CONSTRUCT, DESCRIBE } = queriesOf(asked);
  const byQuery = new SparqlEndpointFetcher({ method: "QUERY" });
  const report = (form: string, work: () => Promise<unknown>): Promise<Outcome> =>
    reportOf("fetch-sparql-endpoint", form)("refused", async () => (await work()) === undefined);
  return Promise.all([
    report("SELECT", () => fetcher.fetchTriples(asked.url, SELECT)),
    report("ASK", () => fetcher.fetchTriples(asked.url, ASK)),
    report("CONSTRUCT", () => fetcher.fetchBindings(asked.url, CONSTRUCT)),
    report("DESCRIBE", () => fetcher.fetchAsk(asked.url, DESCRIBE)),
    report("ASK", () => byQuery.fetchAsk(asked.url, ASK)),
  ]);
}

const reportOf =
  (client: string, form: string) =>
  async (format: string, work: () => Promise<number | boolean>): Promise<Outcome> => {
    // Whatever a client throws is the finding.
    const outcome = await work().catch((error: unknown) => String(error));
    return { client, form, format, outcome };
  };

async function sizeOf(items: AsyncIterable<unknown>): Promise<number> {
  let size = 0;
  for await (const _ of items) size += 1;
  return size;
}
