import { setTimeout as sleep } from "node:timers/promises";
import { type ErrorCode, errorCatalog } from "../errors/codes.ts";
import { FedwayError, type Problem } from "../errors/fedway-error.ts";
import type { CliApp, CliIo, CommandWork, FolderHolder } from "./cli-io.ts";
import { parsedJson } from "../values.ts";
import { oneLine, write } from "./output.ts";

/** A problem document that the service answered. */
export class RemoteProblem extends Error {
  override readonly name = "RemoteProblem";
  readonly problem: Problem;
  /** The query that it points into. */
  readonly query: string | undefined;

  constructor(problem: Problem, query?: string) {
    super(problem.detail);
    this.problem = problem;
    this.query = query;
  }
}

/** A request to the service. */
export interface Asked {
  /** GET without a body, else POST, when absent. */
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else becomes JSON. */
  readonly body?: string | object;
  /** Ends it; an interruption of the command when absent. */
  readonly signal?: AbortSignal;
  /** Sent with the key in `FEDWAY_KEY` only, though the admin token is known. */
  readonly asClient?: boolean;
}

/** The service that a command talks to. */
export interface Service {
  /** Without a slash at its end. */
  readonly url: string;
  /** Of a service in this process: its admin token. */
  readonly own: string | undefined;
  /** Asks for a path, whatever it answers. @throws FedwayError `ENDPOINT_UNREACHABLE`, `CANCELLED` */
  send(path: string, asked?: Asked): Promise<Response>;
  /** A good answer. @throws RemoteProblem, FedwayError */
  ask(path: string, asked?: Asked): Promise<Response>;
  /** The object of a good answer, which has these fields; empty for 204. @throws RemoteProblem, FedwayError */
  read<Answer extends object>(path: string, asked: Asked, ...fields: (keyof Answer & string)[]): Promise<Answer>;
}

const startNote = 'No service is running: this command runs one and ends it afterwards. "fedway serve" keeps one.\n';

/**
 * Uses the service at `url`, else the running one that holds the data folder, else one in this process that ends with the
 * command and does nothing but `work` beside answering.
 * @throws FedwayError `STORE_HELD` when another command holds the folder for long
 */
export async function withService<Result>(
  io: CliIo,
  { url, ...work }: CommandWork & { readonly url?: string | undefined },
  use: (service: Service) => Promise<Result>,
): Promise<Result> {
  const chosen = await runningOrOwn(io, url);
  if (typeof chosen === "string") {
    return use(serviceAt(io, chosen)).catch(async (error: unknown) => {
      const note = `note: asked the running service at ${oneLine(chosen)}, with its settings\n`;
      if (url === undefined && !io.interrupted.aborted) await write(io.stderr, note);
      throw error;
    });
  }
  await write(io.stderr, startNote);
  try {
    return await use(serviceAt(io, await chosen.listen(work), chosen.adminToken));
  } finally {
    await chosen.close();
  }
}

/** URL of a running service, else one in this process; of commands that begin at once, the others wait for the first. */
async function runningOrOwn(io: CliIo, url: string | undefined, attempts = 20): Promise<string | CliApp> {
  const holder = url === undefined ? await folderHolder(io) : { url };
  if (holder?.url !== undefined && isHttp(holder.url)) return holder.url.replace(/(?<!\/)\/+$/, "");
  if (holder !== undefined) throw held(holder);
  try {
    return await io.openApp();
  } catch (error) {
    const isHeld = error instanceof FedwayError && error.code === "STORE_HELD";
    if (!isHeld || attempts === 1 || io.interrupted.aborted) throw error;
    return runningOrOwn(io, url, attempts - 1);
  }
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

const [heldLookMs, heldLooks] = [250, 120];

/** Waits for a service that starts to say where it answers, and for another command to end. */
async function folderHolder(io: CliIo): Promise<FolderHolder | undefined> {
  for (let look = 0; ; look++) {
    const holder = await io.folderHolder();
    if (holder === undefined || holder.url !== undefined || look === heldLooks || io.interrupted.aborted) return holder;
    const note = `note: waiting for ${nameOf(holder).toLowerCase()}, which holds the data folder\n`;
    if (look === 2) await write(io.stderr, note);
    await sleep(heldLookMs, undefined, { signal: io.interrupted }).catch(() => {});
  }
}

const nameOf = ({ pid }: FolderHolder): string => (pid === undefined ? "Another process" : `Process ${pid}`);

const held = (holder: FolderHolder): FedwayError =>
  new FedwayError("STORE_HELD", `${nameOf(holder)} holds the data folder and has not said where it answers.`, {
    next: "Try again when it has ended; run `fedway serve` to have one service for all commands.",
  });

/** Parameters of a path, `?` included; empty without any. */
export function searchOf(given: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? "" : `?${search.toString()}`;
}

/** The service at a URL; `own` is the token of one in this process. */
function serviceAt(io: CliIo, url: string, own?: string): Service {
  const send = async (
    path: string,
    { asClient = false, signal = io.interrupted, ...asked }: Asked = {},
  ): Promise<Response> => {
    const token = own ?? (asClient ? undefined : await io.adminToken(url));
    return io.fetch(`${url}${path}`, { ...requestOf(asked, token), signal }).catch((error: unknown) => {
      throw unreachable(error, signal);
    });
  };
  const ask = async (path: string, asked?: Asked): Promise<Response> => checked(await send(path, asked));
  return {
    url,
    own,
    send,
    ask,
    read: async (path, asked, ...fields) => readAnswer(io, await ask(path, asked), fields),
  };
}

/** @throws FedwayError `ENDPOINT_MALFORMED`, and where the answer is cut off */
export async function readAnswer<Answer extends object>(
  { interrupted }: CliIo,
  response: Response,
  fields: readonly (keyof Answer & string)[],
): Promise<Answer> {
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(error, interrupted);
  });
  const answer = response.status === 204 ? {} : parsedJson(text);
  if (!Array.isArray(answer) && hasFields<Answer>(answer, ...fields)) return answer;
  throw malformed();
}

/** The answer of another program than Fedway. */
export const malformed = (): FedwayError =>
  new FedwayError("ENDPOINT_MALFORMED", "The service did not answer as a Fedway service does.", {
    next: "Is this its address? Its GET /health/live answers 200.",
  });

function requestOf({ method, headers, body }: Asked, token: string | undefined): RequestInit {
  const isJson = typeof body === "object";
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(isJson && { "Content-Type": "application/json" }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
  };
}

/** Why nothing came. */
export function unreachable(error: unknown, signal: AbortSignal): FedwayError {
  if (signal.aborted) return new FedwayError("CANCELLED", "The command was interrupted.", { cause: error });
  return new FedwayError("ENDPOINT_UNREACHABLE", "The service could not be reached.", {
    next: "Check --url and that the service is running.",
    cause: error,
  });
}

/** A code of the catalogue of errors. */
export const isCode = (value: unknown): value is ErrorCode => typeof value === "string" && value in errorCatalog;
/** A good response. @throws RemoteProblem, FedwayError `ENDPOINT_FAILED` */
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => undefined);
  if (hasFields<Problem>(body, "code", "detail") && isCode(body.code)) throw new RemoteProblem(body);
  throw new FedwayError(
    "ENDPOINT_FAILED",
    `The service answered with status ${response.status} and no problem document.`,
  );
}

/** True for an object that has these fields, of any value. */
export const hasFields = <Of extends object>(value: unknown, ...fields: readonly (keyof Of & string)[]): value is Of =>
  typeof value === "object" && value !== null && fields.every((name) => name in value);
