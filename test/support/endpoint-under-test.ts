import { afterEach } from "vitest";
import { EndpointPool, type PooledEndpointOptions } from "../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint, HostedQuery } from "../../src/hosting/hosted-endpoint.ts";

type EndpointPoolOptions = ConstructorParameters<typeof EndpointPool>[0];

export const limits = {
  timeoutMs: 10_000,
  totalMb: 1_024,
  maxAnswerBytes: 1_000_000,
  maxWaiting: 10,
  maxPerClient: 10,
};

const triples = (length: number): string =>
  Array.from({ length }, (_, index) => `<urn:s:${index}> <urn:p:${index % 3}> "value ${index % 50}" .`).join("\n");

/** A thread loads them again at every start. */
const fewTriples = triples(100);
/** Written as CSV they are more than 64 KiB. */
export const manyTriples = triples(3_000);

/** A query that no time is enough for: 100^6 rows to look at. */
export const endless =
  "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n1 ?o . ?q ?r ?s FILTER(?c < ?f && ?f < ?i && ?i < ?s) }";
export const one = "SELECT * { <urn:s:1> ?p ?o }";

interface Overrides extends Partial<PooledEndpointOptions> {
  readonly limits?: Partial<EndpointPoolOptions>;
  readonly thread?: EndpointPoolOptions["thread"];
}

const opened: HostedEndpoint[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((endpoint) => endpoint.close()));
});

/** A hosted endpoint that is closed after the test. */
export function open({ limits: more, thread, ...overrides }: Overrides = {}): HostedEndpoint {
  const pool = new EndpointPool({ ...limits, ...more, thread });
  const endpoint = pool.endpoint({
    id: "alpha",
    source: { kind: "text", text: fewTriples },
    memoryMb: 64,
    ...overrides,
  });
  opened.push(endpoint);
  return endpoint;
}

/** The text of an answer. */
export async function ask(endpoint: HostedEndpoint, query: string, more: Partial<HostedQuery> = {}): Promise<string> {
  const answer = await endpoint.query(queryOf(query, more));
  return answer.body.toString();
}

export const queryOf = (query: string, more: Partial<HostedQuery> = {}): HostedQuery => ({
  query,
  kind: "bindings",
  accept: "text/csv",
  signal: new AbortController().signal,
  timeoutMs: 20_000,
  ...more,
});
