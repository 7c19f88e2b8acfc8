import type { RunRecord } from "../../src/query/records.ts";
import { tableOf } from "./table-rows.ts";
import { startService } from "./running-service.ts";
import { until } from "./eventually.ts";

interface SparqlCall {
  readonly query: string;
  readonly accept?: string;
  /** More protocol parameters. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

interface TableCall {
  readonly query: string;
  readonly endpoint?: string;
  readonly maxRows?: number;
  readonly timeoutMs?: number;
  readonly partial?: boolean;
}

/** The service under test, asked over HTTP only. */
export type Fedway = Awaited<ReturnType<typeof startFedway>>;

/**
 * Starts the service on a free port with a catalogue of Turtle files.
 * @param endpoints catalogue id to endpoint URL
 * @param env more settings
 */
export async function startFedway(
  endpoints: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
) {
  const { url, close } = await startService(endpoints, { FEDWAY_MAX_ROWS: "1000000", ...env });
  return {
    url,
    close,
    /** A SPARQL Protocol request by GET on a route of the service. */
    sparql: (path: string, { query, accept, parameters, signal }: SparqlCall): Promise<Response> =>
      fetch(`${url}${path}?${new URLSearchParams({ query, ...parameters }).toString()}`, {
        headers: { ...(accept !== undefined && { accept }), "accept-encoding": "identity" },
        ...(signal && { signal }),
      }),
    /** `POST /api/query`; the HTTP status is beside the table or problem. */
    table: async (body: TableCall) => {
      const response = await fetch(`${url}/api/query`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, terms: "ntriples" }),
      });
      const answer = tableOf(await response.text());
      return { httpStatus: response.status, answer };
    },
    /** The record of a run once it has ended. */
    endedRun: (id: string | null) => endedRun(url, id),
  };
}

async function endedRun(url: string, id: string | null): Promise<RunRecord> {
  if (id === null) throw new Error("the answer names no run (header Fedway-Run)");
  return until(async () => {
    const response = await fetch(`${url}/api/runs/${id}`);
    if (response.status !== 200) throw new Error(`/api/runs/${id}: ${response.status} ${await response.text()}`);
    const record: RunRecord = JSON.parse(await response.text());
    return record.status !== "running" && record;
  });
}
