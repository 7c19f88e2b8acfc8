import type { Readable } from "node:stream";
import type { PlanDescription } from "../query/explain.ts";
import type { QueryRequest } from "../query/query-service.ts";
import type { RunRecord } from "../query/run-log.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CliApp, type CliIo, UsageError } from "./cli-io.ts";
import { oneLine, write } from "./output.ts";
import { checked, createRemoteRunner, post } from "./remote-runner.ts";

/** What `fedway query` and `fedway explain` ask for. */
export interface QueryArguments
  extends Pick<
    QueryRequest,
    "text" | "endpointId" | "federationId" | "timeoutMs" | "strict" | "partial" | "prune" | "provenance"
  > {
  /** Accept header. */
  readonly accept: string;
  /** Run the plan and say what its steps took. */
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
  run(asked: QueryArguments): Promise<QueryOutput>;
  /** @throws FedwayError, RemoteProblem */
  explain(asked: QueryArguments): Promise<PlanDescription>;
  close(): Promise<void>;
}

/**
 * The URL of the service that is meant, without a slash at its end: the one that was named, else the running one that holds
 * the data folder; undefined when none does, so that this process may.
 * @throws FedwayError `STORE_HELD` when it is held by one that has not said where it answers
 */
export async function chooseService(io: CliIo, url: string | undefined): Promise<string | undefined> {
  if (url !== undefined) return withoutSlash(url);
  const holder = await io.folderHolder();
  if (holder === undefined) return undefined;
  if (holder.url === undefined || !isHttp(holder.url)) throw held(holder.pid);
  const running = oneLine(holder.url);
  await write(
    io.stderr,
    `note: a running service holds the data folder; it answers at ${running}, with its settings\n`,
  );
  return withoutSlash(holder.url);
}

/** The URL of the service that is meant, which has to run. @throws UsageError, FedwayError `STORE_HELD` */
export async function runningService(io: CliIo, url: string | undefined): Promise<string> {
  const service = await chooseService(io, url);
  if (service !== undefined) return service;
  throw new UsageError("no service is running; start one (fedway serve) or name it with --url");
}

/** A request to the API of a service. */
export interface AskedOfService {
  /** POST when absent. */
  readonly method?: string | undefined;
  /** Below `/api/`. */
  readonly path: string;
  readonly body?: object;
}

/** A good answer of the service at `url` or the running one, as its operator gets it. @throws UsageError, RemoteProblem, FedwayError */
export async function askService(
  io: CliIo,
  url: string | undefined,
  { path, ...asked }: AskedOfService,
): Promise<Response> {
  const service = await runningService(io, url);
  return checked(await post(io, `${service}/api/${path}`, { ...asked, token: await io.adminToken(service) }));
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, "");

/** The service at `url` or the running one, else this process. @throws FedwayError `STORE_HELD` */
export async function openRunner(io: CliIo, url: string | undefined): Promise<Runner> {
  const service = await chooseService(io, url);
  return service === undefined
    ? createLocalRunner(await openQuietly(io), io.interrupted)
    : createRemoteRunner(service, io);
}

/** The service in this process, without a log: standard output belongs to the answer. */
const openQuietly = (io: CliIo, overrides: Readonly<Record<string, string>> = {}): Promise<CliApp> =>
  io.openApp({ FEDWAY_LOG_LEVEL: "silent", ...overrides });

/** Uses the service in this process, and closes it. */
export async function withApp<Result>(
  io: CliIo,
  use: (app: CliApp) => Promise<Result>,
  overrides?: Readonly<Record<string, string>>,
): Promise<Result> {
  const app = await openQuietly(io, overrides);
  try {
    return await use(app);
  } finally {
    await app.close();
  }
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

function held(pid: number | undefined): FedwayError {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return new FedwayError("STORE_HELD", `${who} holds the data folder and has not said where it answers.`, {
    next: "Try again when it has started, name a service with --url, or choose another folder with FEDWAY_DATA_DIR.",
  });
}

/** Runs queries in this process, with the catalogue and limits of the environment. */
function createLocalRunner(app: CliApp, signal: AbortSignal): Runner {
  const { queries } = app;
  const graphs = { defaultGraphs: [], namedGraphs: [] };
  return {
    run: async (asked) => {
      const answer = await queries.run({ ...asked, ...graphs, signal });
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
    explain: async (asked) =>
      asked.analyze ? queries.analyze({ ...asked, ...graphs, signal }) : queries.explain({ ...asked, ...graphs }),
    close: async () => app.close(),
  };
}
