import { Readable } from "node:stream";
import { type ErrorCode, errorCatalog } from "../errors/codes.ts";
import { FedwayError, type Problem } from "../errors/fedway-error.ts";
import type { PlanDescription } from "../query/explain.ts";
import type { PartialKind, RunStatus } from "../query/run-log.ts";
import type { CliIo } from "./cli-io.ts";
import type { Ending, QueryArguments, Runner } from "./runner.ts";

/** A problem document that a running service answered. */
export class RemoteProblem extends Error {
  override readonly name = "RemoteProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

const isCode = (value: unknown): value is ErrorCode => typeof value === "string" && value in errorCatalog;
const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "code" in value && isCode(value.code) && "detail" in value;
const isPlan = (value: unknown): value is PlanDescription =>
  typeof value === "object" && value !== null && "kind" in value && "notes" in value;

const statuses: readonly RunStatus[] = ["running", "ok", "empty", "partial", "failed", "cancelled"];

const kinds: readonly PartialKind[] = ["subset", "uncertain"];

/** A good response. @throws RemoteProblem, FedwayError `ENDPOINT_FAILED` */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  if (isProblem(body)) throw new RemoteProblem(body);
  throw new FedwayError(
    "ENDPOINT_FAILED",
    `The service answered with status ${response.status} and no problem document.`,
  );
}

/** A request to a running service. */
interface Posted {
  /** POST when absent. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The admin token. */
  readonly token?: string | undefined;
  /** Text as it is; anything else becomes JSON. */
  readonly body?: string | object;
}

/** Sends a request, by default a POST, to the service at this URL, whatever it answers. @throws FedwayError when there is no answer */
export async function post(
  { fetch: ask, interrupted: signal }: Pick<CliIo, "fetch" | "interrupted">,
  url: string,
  { method = "POST", headers, token, body }: Posted,
): Promise<Response> {
  const isJson = typeof body === "object";
  const request = {
    method,
    signal,
    headers: {
      ...(isJson && { "Content-Type": "application/json" }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
  };
  return ask(url, request).catch((error: unknown) => {
    throw unreachable(error, signal);
  });
}

/** Why nothing came. */
export function unreachable(error: unknown, signal: AbortSignal): FedwayError {
  if (signal.aborted) return new FedwayError("CANCELLED", "The request was interrupted.", { cause: error });
  return new FedwayError("ENDPOINT_UNREACHABLE", "The service could not be reached.", {
    next: "Check --url and that the service is running.",
    cause: error,
  });
}

function parametersOf({ timeoutMs, partial, strict, prune = true, provenance }: QueryArguments): URLSearchParams {
  const parameters = new URLSearchParams();
  if (timeoutMs !== undefined) parameters.set("timeout", String(timeoutMs));
  if (partial !== false) parameters.set("partial", String(partial));
  if (strict) parameters.set("strict", "true");
  if (provenance) parameters.set("provenance", "true");
  if (prune !== true) parameters.set("prune", String(prune));
  return parameters;
}

function routeOf({ endpointId, federationId }: QueryArguments): string {
  if (federationId !== undefined) return `/federations/${encodeURIComponent(federationId)}/sparql`;
  return endpointId === undefined ? "/sparql" : `/endpoints/${encodeURIComponent(endpointId)}/sparql`;
}

/** The record of a run; empty when it cannot be had. */
async function recordOf(ask: typeof fetch, base: string, run: string | null): Promise<object> {
  if (run === null) return {};
  const response = await ask(`${base}/api/runs/${encodeURIComponent(run)}`).catch(() => undefined);
  const record: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined;
  return typeof record === "object" && record !== null ? record : {};
}

async function endingOf(ask: typeof fetch, base: string, run: string | null): Promise<Ending | undefined> {
  const record = await recordOf(ask, base, run);
  const status = "status" in record ? statuses.find((known) => known === record.status) : undefined;
  const partial = "partial" in record ? kinds.find((known) => known === record.partial) : undefined;
  return status && { status, partial };
}

/** The header has the notes' codes only. */
async function notesOf(ask: typeof fetch, base: string, run: string | null): Promise<readonly string[] | undefined> {
  const record = await recordOf(ask, base, run);
  const notes: readonly unknown[] = "notes" in record && Array.isArray(record.notes) ? record.notes : [];
  const messages = notes.filter(isNote).map(({ message }) => message);
  return messages.length > 0 ? messages : undefined;
}

const isNote = (value: unknown): value is { readonly message: string } =>
  typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";

/** Runs queries at the running service at this URL, which has no slash at its end. */
export function createRemoteRunner(service: string, io: CliIo): Runner {
  return {
    run: async (asked) => {
      const response = await checked(
        await post(io, `${service}${routeOf(asked)}?${parametersOf(asked).toString()}`, {
          headers: { "Content-Type": "application/sparql-query", Accept: asked.accept },
          body: asked.text,
        }),
      );
      const notes = response.headers.get("Fedway-Notes");
      const run = response.headers.get("Fedway-Run");
      return {
        body: response.body ? Readable.fromWeb(response.body) : Buffer.alloc(0),
        contentType: response.headers.get("Content-Type") ?? "",
        notes: notes === null ? [] : ((await notesOf(io.fetch, service, run)) ?? notes.split(",")),
        ending: async () => endingOf(io.fetch, service, run),
      };
    },
    explain: async ({
      text: query,
      endpointId: endpoint,
      federationId: federation,
      strict,
      prune,
      analyze,
      ...rest
    }) => {
      const run = analyze && { analyze, timeoutMs: rest.timeoutMs, partial: rest.partial };
      const body = { query, endpoint, federation, strict, prune, ...run };
      const plan: unknown = await (await checked(await post(io, `${service}/api/explain`, { body }))).json();
      if (isPlan(plan)) return plan;
      throw new FedwayError("ENDPOINT_MALFORMED", "The service did not answer with a plan.");
    },
    close: async () => {},
  };
}
