import { QueryEngine } from "@comunica/query-sparql";
import { canonicalRow, canonicalTerm } from "./canonical-answer.ts";

/** A source as the planner sees it: any URL, where the queries really go, and the description it is given. */
export interface PlannedSource {
  readonly url: string;
  readonly endpoint: string;
  /** Service description and VoID, Turtle. */
  readonly description: string;
}

/** Comunica itself, planning by descriptions instead of COUNT queries. */
export interface PlannedComunica {
  /** Distinct rows in canonical form, sorted: a triple that two sources have is one triple. */
  select(query: string, sources: readonly PlannedSource[]): Promise<readonly string[]>;
  /**
   * How often a query of the user's had a source asked at all, so far. Requests are not counted: how many a bind join
   * sends depends on how its rows arrive.
   */
  readonly traffic: { readonly sourcesAsked: number };
}

/**
 * Comunica with local cardinality estimation, which is a setting of its SPARQL source actor and off by default. Its
 * traffic goes through the context's `fetch`: a GET without a query is answered with the source's description.
 */
export function createPlannedComunica(): PlannedComunica {
  const engine = new QueryEngine();
  estimateLocally(engine);
  const traffic = { sourcesAsked: 0 };

  async function select(query: string, sources: readonly PlannedSource[]): Promise<readonly string[]> {
    const bySource = new Map(sources.map((source) => [source.url, source]));
    const asked = new Set<PlannedSource>();
    const stream = await engine.queryBindings(query, {
      sources: sources.map(({ url }) => ({ type: "sparql" as const, value: url })) as unknown as [string],
      fetch: (input, init) => answer(bySource, new Request(input, init), asked),
    });
    const rows = await stream.toArray();
    traffic.sourcesAsked += asked.size;
    const canonical = rows.map((row) =>
      canonicalRow([...row].map(([variable, term]) => [variable.value, canonicalTerm(term as never)])),
    );
    return [...new Set(canonical)].toSorted();
  }

  return { select, traffic };
}

async function answer(
  sources: ReadonlyMap<string, PlannedSource>,
  request: Request,
  asked: Set<PlannedSource>,
): Promise<Response> {
  const url = new URL(request.url);
  const source = sources.get(url.origin + url.pathname);
  if (source === undefined) return new Response("no such source\n", { status: 404 });
  const text = request.method === "POST" ? await request.text() : "";
  const query = url.searchParams.get("query") ?? new URLSearchParams(text).get("query");
  if (query === null) return described(source);
  asked.add(source);
  return fetch(source.endpoint, {
    method: "POST",
    headers: { accept: request.headers.get("accept") ?? "*/*" },
    body: new URLSearchParams({ query }),
  });
}

function described({ url, description }: PlannedSource): Response {
  const response = new Response(description, {
    headers: { "content-type": "text/turtle", "cache-control": "max-age=3600" },
  });
  // A response that was made here has no URL, and Comunica resolves links against it.
  Object.defineProperty(response, "url", { value: url });
  return response;
}

/** Finds the actor in the engine's object graph: its configuration can only be changed by compiling another engine. */
function estimateLocally(engine: object): void {
  const seen = new Set<object>();
  const waiting: object[] = [engine];
  let found = 0;
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (seen.has(value)) continue;
    seen.add(value);
    if ("cardinalityEstimateConstruction" in value) {
      value.cardinalityEstimateConstruction = true;
      found++;
    }
    // Sources without answers are told by their descriptions.
    if ("useAskIfSupported" in value) {
      value.useAskIfSupported = false;
      found++;
    }
    for (const part of Object.values(value) as unknown[])
      if (typeof part === "object" && part !== null) waiting.push(part);
  }
  if (found !== 2) throw new Error(`${found} actors of Comunica plan by descriptions, not 2`);
}
