import type { Readable } from "node:stream";
import type { PlanDescription } from "../query/explain.ts";
import type { QueryRequest } from "../query/query-service.ts";
import type { RunRecord } from "../query/run-log.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CliIo, CliApp } from "./cli-io.ts";
import { oneLine, write } from "./output.ts";
import { createRemoteRunner } from "./remote-runner.ts";

/** What `fedway query` and `fedway explain` ask for. */
export interface QueryArguments {
  readonly text: string;
  readonly endpoint: string | undefined;
  readonly federation: string | undefined;
  /** Accept header. */
  readonly accept: string;
  readonly timeoutMs: number | undefined;
  readonly partial: QueryRequest["partial"];
  readonly strict: boolean;
  readonly prune: boolean | "trust";
  readonly provenance: boolean;
  /** A plan is run, and says what its steps took. */
  readonly analyze: boolean;
}

/** How a query ended. */
export type Ending = Pick<RunRecord, "status" | "partial">;

/** An answer on its way. */
export interface QueryOutput {
  readonly body: Buffer | Readable;
  readonly contentType: string;
  readonly notes: readonly string[];
  /** Once the body has ended; undefined when it is not known. */
  ending(): Promise<Ending | undefined>;
}

/** Where queries are run: in this process or by a running service. */
export interface Runner {
  /** @throws FedwayError, RemoteProblem */
  run(asked: QueryArguments, signal: AbortSignal): Promise<QueryOutput>;
  /** @throws FedwayError, RemoteProblem */
  explain(asked: QueryArguments, signal: AbortSignal): Promise<PlanDescription>;
  close(): Promise<void>;
}

/**
 * The URL of the service that is meant: the one that was named, else the running one that holds the data folder; undefined
 * when nobody does, so that this process may. @throws FedwayError `STORE_HELD` when it is held by one that answers nowhere
 */
export async function chooseService(io: CliIo, url: string | undefined): Promise<string | undefined> {
  if (url !== undefined) return url;
  const holder = await io.folderHolder();
  if (holder === undefined) return undefined;
  if (holder.url === undefined || !isHttp(holder.url)) throw held(holder.pid);
  const running = oneLine(holder.url);
  await write(
    io.stderr,
    `note: a running service holds the data folder; it answers at ${running}, with its settings\n`,
  );
  return holder.url;
}

/** The service at `url` or the running one, else this process. @throws FedwayError `STORE_HELD` */
export async function openRunner(io: CliIo, url: string | undefined): Promise<Runner> {
  const service = await chooseService(io, url);
  if (service !== undefined) return createRemoteRunner(service, io.fetch);
  // Standard output belongs to the answer, so the service inside writes no log.
  return createLocalRunner(await io.openApp({ FEDWAY_LOG_LEVEL: "silent" }));
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

function held(pid: number | undefined): FedwayError {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return new FedwayError("STORE_HELD", `${who} holds the data folder and has not said where it answers.`, {
    next: "Try again when it has started, name a service with --url, or choose another folder with FEDWAY_DATA_DIR.",
  });
}

/** Runs queries in this process, with the catalogue and limits of the environment. */
function createLocalRunner(app: CliApp): Runner {
  const { queries } = app;
  return {
    run: async (asked, signal) => {
      const answer = await queries.run({
        text: asked.text,
        endpointId: asked.endpoint,
        federationId: asked.federation,
        accept: asked.accept,
        timeoutMs: asked.timeoutMs,
        defaultGraphs: [],
        namedGraphs: [],
        strict: asked.strict,
        partial: asked.partial,
        prune: asked.prune,
        provenance: asked.provenance,
        signal,
      });
      return {
        body: answer.body,
        contentType: answer.contentType,
        notes: answer.notes.map(({ message }) => message),
        ending: async () => {
          const record = await queries.runRecord(answer.runId);
          return record === undefined || record.status === "running" ? answer : record;
        },
      };
    },
    explain: async ({ text, endpoint, federation, strict, prune, analyze, ...asked }, signal) => {
      const place = { endpointId: endpoint, federationId: federation, defaultGraphs: [], namedGraphs: [] };
      if (!analyze) return queries.explain({ text, ...place, strict, prune });
      const { timeoutMs, partial } = asked;
      return queries.analyze({ text, ...place, strict, prune, timeoutMs, partial, signal });
    },
    close: async () => app.close(),
  };
}
