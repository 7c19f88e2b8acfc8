import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { RunRecord } from "../../src/query/run-log.ts";
import type { TabularAnswer } from "../../src/query/table.ts";
import { newFolder } from "../support/scratch-folder.ts";

/** The service under test, asked over HTTP only. */
export interface Fedway {
  readonly url: string;
  /** A SPARQL Protocol request by GET on a route of the service. */
  sparql(path: string, request: SparqlCall): Promise<Response>;
  /** `POST /api/query`; the HTTP status is beside the table or problem. */
  table(body: TableCall): Promise<{ readonly httpStatus: number; readonly answer: TabularAnswer }>;
  /** The record of a run once it has ended. */
  endedRun(id: string | null): Promise<RunRecord>;
  close(): Promise<void>;
}

export interface SparqlCall {
  readonly query: string;
  readonly accept?: string;
  /** More protocol parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface TableCall {
  readonly query: string;
  readonly endpoint?: string;
  readonly maxRows?: number;
  readonly timeoutMs?: number;
  readonly partial?: boolean;
}

/**
 * Starts the service on a free port with a catalogue of Turtle files.
 * @param endpoints catalogue id to endpoint URL
 * @param env more settings
 */
export async function startFedway(
  endpoints: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Fedway> {
  const scratch = newFolder();
  await mkdir(scratch, { recursive: true });
  for (const [id, url] of Object.entries(endpoints)) {
    await writeFile(join(scratch, `${id}.ttl`), catalogFile(id, url));
  }
  const app = await createApp(
    loadConfig({
      PORT: "0",
      FEDWAY_CATALOG: scratch,
      FEDWAY_MONITOR: "off",
      FEDWAY_DATA_DIR: join(scratch, "data"),
      FEDWAY_EXAMPLES: "off",
      FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
      FEDWAY_LOG_LEVEL: "silent",
      FEDWAY_MAX_ROWS: "1000000",
      ...env,
    }),
  );
  const url = (await app.listen()).replace(/\/$/u, "");
  return {
    url,
    sparql: (path, { query, accept, parameters, signal }) =>
      fetch(`${url}${path}?${new URLSearchParams({ query, ...parameters }).toString()}`, {
        headers: { ...(accept !== undefined && { accept }), "accept-encoding": "identity" },
        ...(signal && { signal }),
      }),
    table: async (body) => {
      const response = await fetch(`${url}/api/query`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer: TabularAnswer = JSON.parse(await response.text());
      return { httpStatus: response.status, answer };
    },
    endedRun: (id) => endedRun(url, id),
    close: async () => {
      await app.close();
    },
  };
}

const catalogFile = (id: string, url: string): string => `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
[] a dcat:DataService ;
  dcterms:identifier "${id}" ;
  dcterms:title "${id}" ;
  dcterms:description "The engine ${id} of the interoperability tests." ;
  dcat:endpointURL <${url}> .
`;

async function endedRun(url: string, id: string | null): Promise<RunRecord> {
  if (id === null) throw new Error("the answer names no run (header Fedway-Run)");
  const endsAt = Date.now() + 5_000;
  for (;;) {
    const response = await fetch(`${url}/api/runs/${id}`);
    if (response.status !== 200) throw new Error(`/api/runs/${id}: ${response.status} ${await response.text()}`);
    const record: RunRecord = JSON.parse(await response.text());
    if (record.status !== "running") return record;
    if (Date.now() > endsAt) throw new Error(`run ${id} is still running five seconds after its answer`);
    await sleep(25);
  }
}
