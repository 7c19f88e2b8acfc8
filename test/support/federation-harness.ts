import { text as readText } from "node:stream/consumers";
import type { App } from "../../src/app.ts";
import type { TabularAnswer } from "../../src/query/table.ts";
import { bindingsAnswer, canonicalRow, canonicalText, graphAnswer, type CanonicalAnswer } from "./canonical-answer.ts";
import { startSparqlTestServer, type SeenRequest, type SparqlTestServer } from "./sparql-test-server.ts";
import { openService } from "./running-service.ts";

export type TestEndpoints = Awaited<ReturnType<typeof startEndpoints>>;

/** SPARQL endpoints over real sockets, by name, with their data in N-Triples; a test controls data and faults. */
export async function startEndpoints(data: Readonly<Record<string, string>>) {
  const servers = new Map<string, SparqlTestServer>();
  for (const [name, text] of Object.entries(data)) servers.set(name, await startSparqlTestServer(text));
  const server = (name: string): SparqlTestServer => {
    const found = servers.get(name);
    if (!found) throw new Error(`No test endpoint ${name}`);
    return found;
  };
  return {
    urls: Object.fromEntries([...servers].map(([name, { url }]) => [name, url])),
    url: (name: string): string => server(name).url,
    requests: (name: string): readonly SeenRequest[] => server(name).requests,
    clearRequests: (): void => servers.forEach((one) => one.clearRequests()),
    setData: (name: string, text: string): void => server(name).setData(text),
    setDelay: (name: string, ms: number): void => server(name).setDelay(ms),
    setFault: (name: string, ...fault: Parameters<SparqlTestServer["setFault"]>): void =>
      server(name).setFault(...fault),
    close: async (): Promise<void> => {
      await Promise.all([...servers.values()].map((one) => one.close()));
    },
  };
}

export interface FederationQuery {
  readonly endpointId?: string;
  readonly federationId?: string;
  readonly inOrder?: boolean;
  readonly partial?: boolean | "subset";
  readonly timeoutMs?: number;
}

export type Federation = Awaited<ReturnType<typeof startFederation>>;

/** Builds the service without listening; `env` adds to the configuration, `files` to the catalogue folder. */
export async function startFederation(
  urls: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const app = await openService(urls, { FEDWAY_MAX_ROWS: "1000000", ...env }, files);
  /** Runs a query; `endpointId` as if sent to `/endpoints/{id}/sparql`. */
  const table = (query: string, options?: FederationQuery): Promise<TabularAnswer> => runTable(app, query, options);
  return {
    app,
    table,
    /** Runs a query of any form and gives its answer in comparable form. @throws Error when the run is not complete */
    answer: async (query: string, options?: FederationQuery): Promise<CanonicalAnswer> =>
      /^\s*CONSTRUCT\b/iu.test(query) ? runGraph(app, query, options) : toAnswer(await table(query, options), options),
    close: (): Promise<void> => app.close(),
  };
}

function requestOf(text: string, options: FederationQuery = {}) {
  return {
    text,
    defaultGraphs: [],
    namedGraphs: [],
    strict: false,
    partial: options.partial ?? false,
    signal: new AbortController().signal,
    ...(options.endpointId === undefined ? {} : { endpointId: options.endpointId }),
    ...(options.federationId === undefined ? {} : { federationId: options.federationId }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  };
}

async function runTable(app: App, text: string, options?: FederationQuery): Promise<TabularAnswer> {
  return app.queries.table({ ...requestOf(text, options), maxRows: 1_000_000 });
}

function toAnswer(table: TabularAnswer, options?: FederationQuery): CanonicalAnswer {
  if (table.status !== "ok" && table.status !== "empty") {
    throw new Error(`${table.status}: ${table.diagnosis?.code} ${table.diagnosis?.detail}`);
  }
  if (table.truncated) throw new Error("truncated");
  if (table.boolean !== undefined) return { kind: "boolean", value: table.boolean };
  const rows = table.rows.map((row) =>
    canonicalRow(
      row.flatMap((cell, index) => (cell === null ? [] : [[table.columns[index] ?? "", canonicalText(cell)] as const])),
    ),
  );
  return bindingsAnswer(rows, options?.inOrder === true);
}

async function runGraph(app: App, text: string, options?: FederationQuery): Promise<CanonicalAnswer> {
  const answer = await app.queries.run({ ...requestOf(text, options), accept: "application/n-triples" });
  const body = Buffer.isBuffer(answer.body) ? answer.body.toString("utf8") : await readText(answer.body);
  const lines = body.split("\n");
  return graphAnswer(lines.filter((line) => line.trim() !== "").map(canonicalTriple));
}

const tripleLine = /^(\S+) (\S+) (.*?) ?\.\s*$/su;

function canonicalTriple(line: string): string {
  const parts = tripleLine.exec(line);
  if (!parts) throw new Error(`Not a triple: ${line}`);
  return parts.slice(1, 4).map(canonicalText).join(" ");
}
