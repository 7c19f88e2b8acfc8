import { SparqlEndpointFetcher } from "fetch-sparql-endpoint";

/** A query as the user of a client library sends it, and the name of what it meets. */
export interface Situation {
  readonly situation: string;
  /** With CLIENT for the name of the client in lower case. */
  readonly url: string;
  readonly form: "SELECT" | "ASK" | "CONSTRUCT";
  readonly query: string;
}

type Row = readonly (string | null)[];

/** What a client made of a situation: rows, a boolean, a number of triples, or its error. */
export interface Met {
  readonly client: string;
  readonly situation: string;
  readonly outcome: readonly Row[] | boolean | number | { readonly error: string };
}

/** As RDF/JS or as SPARQL JSON. */
interface Term {
  readonly value: string;
  readonly language?: string;
  readonly direction?: string | null;
  readonly "xml:lang"?: string;
  readonly "its:dir"?: string;
}
type Terms = Readonly<Record<string, Term | null | undefined>>;
type Answer = Promise<readonly Row[] | boolean | number>;

/** Asks JavaScript's client libraries with their defaults; sparql-http-client has no end of an answer that breaks off. @param packages the folder that they are installed in */
export async function askJavaScript(asked: readonly Situation[], packages: string): Promise<readonly Met[]> {
  const clients: Readonly<Record<string, (one: Situation) => Answer>> = {
    "fetch-sparql-endpoint": withFetcher,
    "sparql-http-client": await httpClient(packages),
    "sparql-client-2": await clientTwo(packages),
    LDkit: await ldkit(packages),
  };
  const met: Met[] = [];
  for (const [client, ask] of Object.entries(clients)) {
    for (const one of asked) {
      if (client === "sparql-http-client" && one.situation === "broken off") continue;
      // Whatever a client throws is the finding.
      const outcome = await ask(by(client, one)).catch((error: unknown) => ({
        error: String(error),
      }));
      met.push({ client, situation: one.situation, outcome });
    }
  }
  return met;
}

const by = (client: string, one: Situation): Situation => ({
  ...one,
  url: one.url.replace("CLIENT", client.toLowerCase()),
});

const namesOf = ({ query }: Situation): readonly string[] =>
  Array.from(
    (/SELECT (?<names>[^{]*)/u.exec(query)?.groups?.["names"] ?? "").matchAll(/\?(\w+)/gu),
    ([, name]) => name!,
  );

const rowOf = (terms: Terms, names: readonly string[]): Row => names.map((name) => shown(terms[name]));

function shown(term: Term | null | undefined): string | null {
  if (!term) return null;
  const [language, direction] = [term.language ?? term["xml:lang"], term.direction ?? term["its:dir"]];
  return `${term.value}${language ? `@${language}` : ""}${direction ? `--${direction}` : ""}`;
}

async function withFetcher(one: Situation): Answer {
  const fetcher = new SparqlEndpointFetcher();
  if (one.form === "ASK") return fetcher.fetchAsk(one.url, one.query);
  if (one.form === "CONSTRUCT") return (await all(await fetcher.fetchTriples(one.url, one.query))).length;
  const rows: Row[] = [];
  for await (const terms of await fetcher.fetchBindings(one.url, one.query))
    rows.push(rowOf(terms as unknown as Terms, namesOf(one)));
  return rows;
}

async function all(items: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface HttpClientModule {
  readonly default: new (options: {
    readonly endpointUrl: string;
  }) => {
    readonly query: {
      readonly select: (query: string) => Promise<readonly Terms[]>;
      readonly ask: (query: string) => Promise<boolean>;
      readonly construct: (query: string) => Promise<{ readonly size: number }>;
    };
  };
}

async function httpClient(packages: string): Promise<(one: Situation) => Answer> {
  const { default: Client }: HttpClientModule = await import(`${packages}/sparql-http-client/ParsingClient.js`);
  return async (one) => {
    const { query } = new Client({ endpointUrl: one.url });
    if (one.form === "ASK") return query.ask(one.query);
    if (one.form === "CONSTRUCT") return (await query.construct(one.query)).size;
    return (await query.select(one.query)).map((terms) => rowOf(terms, namesOf(one)));
  };
}

interface Document {
  readonly boolean?: boolean;
  readonly results: { readonly bindings: readonly Terms[] };
}
interface ClientTwoModule {
  readonly SparqlClient: new (
    url: string,
  ) => {
    readonly query: (query: string) => { readonly execute: () => Promise<Document> };
  };
}

/** It asks for JSON only, so it has no graphs. */
async function clientTwo(packages: string): Promise<(one: Situation) => Answer> {
  const { SparqlClient }: ClientTwoModule = (await import(`${packages}/sparql-client-2/index.js`)).default;
  return async (one) => {
    const { boolean, results } = await new SparqlClient(one.url).query(one.query).execute();
    return boolean ?? results.bindings.map((terms) => rowOf(terms, namesOf(one)));
  };
}

interface LdkitModule {
  readonly QueryEngine: new () => {
    readonly queryBindings: (query: string, context: Sources) => Promise<AsyncIterable<LdkitRow>>;
    readonly queryBoolean: (query: string, context: Sources) => Promise<boolean>;
    readonly queryQuads: (query: string, context: Sources) => Promise<AsyncIterable<unknown>>;
  };
}
interface Sources {
  readonly sources: readonly string[];
}
interface LdkitRow {
  readonly get: (name: string) => Term | undefined;
}

async function ldkit(packages: string): Promise<(one: Situation) => Answer> {
  const { QueryEngine }: LdkitModule = await import(`${packages}/ldkit/esm/mod.js`);
  return async (one) => {
    const [engine, context] = [new QueryEngine(), { sources: [one.url] }];
    if (one.form === "ASK") return engine.queryBoolean(one.query, context);
    if (one.form === "CONSTRUCT") return (await all(await engine.queryQuads(one.query, context))).length;
    const rows: Row[] = [];
    for await (const row of await engine.queryBindings(one.query, context))
      rows.push(namesOf(one).map((name) => shown(row.get(name))));
    return rows;
  };
}
