import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect } from "vitest";
import type { ErrorCode } from "../../src/errors/codes.ts";
import { type FaultKind, FedwayError } from "../../src/errors/fedway-error.ts";
import { createSparqlClient, type OpenSparqlClient } from "../../src/outbound/client.ts";
import type { SparqlClientOptions } from "../../src/outbound/client.ts";
import type { AnswerEnd, SparqlAnswer, SparqlClient, SparqlRequest } from "../../src/outbound/sparql-request.ts";
import { type HostileServer, startHostileServer } from "./hostile-server.ts";

/** A request with defaults; `url` is the only thing a test must give. */
export function requestTo(url: string, more: Partial<SparqlRequest> = {}): SparqlRequest {
  return {
    endpoint: { id: "hostile", url },
    query: "SELECT ?x WHERE { ?x ?p ?o }",
    kind: "bindings",
    accept: "application/sparql-results+json",
    encoding: "decode",
    signal: new AbortController().signal,
    deadlineMs: Date.now() + 60_000,
    ...more,
  };
}

/** All bytes of an answer's body; rejects when the body is destroyed. */
export async function bodyOf(body: Buffer | Readable): Promise<Buffer> {
  return Buffer.isBuffer(body) ? body : buffer(body);
}

/** An answer read to its end. */
export interface ReadAnswer {
  readonly answer: SparqlAnswer;
  readonly body: Buffer;
  readonly end: AnswerEnd;
}

/** Sends a query and reads its answer to the end. */
export async function read(client: SparqlClient, request: SparqlRequest): Promise<ReadAnswer> {
  const answer = await client.query(request);
  return { answer, body: await bodyOf(answer.body), end: await answer.end };
}

function asFedwayError(thrown: unknown): FedwayError {
  if (thrown instanceof FedwayError) return thrown;
  throw new Error("failed with something that is no FedwayError", { cause: thrown });
}

const rejectionOf = (promise: Promise<unknown>): Promise<FedwayError> =>
  promise.then(() => expect.fail("ended as if the answer were whole"), asFedwayError);

/** The `FedwayError` that sending or reading fails with; checks that body and `end` fail alike. */
export async function failureOf(client: SparqlClient, request: SparqlRequest): Promise<FedwayError> {
  let answer: SparqlAnswer;
  try {
    answer = await client.query(request);
  } catch (thrown) {
    return asFedwayError(thrown);
  }
  const ofBody = await rejectionOf(bodyOf(answer.body));
  expect(await rejectionOf(answer.end)).toBe(ofBody);
  return ofBody;
}

/** What a failure has to be. */
export type ExpectedFailure = readonly [code: ErrorCode, fault?: FaultKind];

/** Asserts code and fault of a failure; returns it for more. */
export async function shouldFail(
  client: SparqlClient,
  request: SparqlRequest,
  [code, fault]: ExpectedFailure,
): Promise<FedwayError> {
  const error = await failureOf(client, request);
  expect({ code: error.code, message: error.message }).toEqual({ code, message: error.message });
  if (fault !== undefined) expect(error.details.fault).toBe(fault);
  return error;
}

/** A hostile server and the clients that talk to it, made anew for each test. */
export interface HostileSetting {
  readonly server: HostileServer;
  /** A client that may dial 127.0.0.0/8; closed after the test. */
  readonly clientWith: (options?: Partial<SparqlClientOptions>) => ReturnType<typeof createSparqlClient>;
  /** A request for a case of the server. */
  readonly send: (caseName: string, more?: Partial<SparqlRequest>) => SparqlRequest;
}

/** Registers the hooks; the setting is usable inside tests. */
export function hostileSetting(): HostileSetting {
  let server: HostileServer | undefined;
  let clients: OpenSparqlClient[] = [];
  const running = (): HostileServer => server ?? expect.fail("the hostile server runs only inside tests");
  beforeEach(async () => {
    server = await startHostileServer();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
    await server?.close();
    server = undefined;
  });
  return {
    get server() {
      return running();
    },
    clientWith(options = {}) {
      const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], ...options });
      clients.push(client);
      return client;
    },
    send: (caseName, more) => requestTo(running().url(caseName), more),
  };
}
