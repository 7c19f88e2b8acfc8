import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { expect } from "vitest";
import { type ErrorDetails, FedwayError } from "../../src/errors/fedway-error.ts";
import type { ErrorCode } from "../../src/errors/codes.ts";
import { listening } from "./listening.ts";

/** What is answered under one path; a function does as it likes. */
export type ServedDocument =
  | {
      readonly status?: number;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  | ((request: IncomingMessage, response: ServerResponse) => void);

export type DocumentServer = Awaited<ReturnType<typeof startDocumentServer>>;

/** A web server on a free port of 127.0.0.1; anything that is not in its `documents` is 404. */
export async function startDocumentServer() {
  const documents = new Map<string, ServedDocument>();
  const requests: { readonly path: string; readonly headers: IncomingMessage["headers"] }[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push({ path, headers: request.headers });
    const served = documents.get(path);
    if (typeof served === "function") return served(request, response);
    const { status = served ? 200 : 404, type = "text/turtle", headers = {}, body = "" } = served ?? {};
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  });
  const listener = await listening(server);
  return {
    origin: listener.origin,
    /** Paths by which documents are found; may be changed at any time. */
    documents,
    requests,
    close: listener.close,
  };
}

/** Asserts that a promise rejects with a `FedwayError` of this code and these details. */
export async function shouldRejectWith(
  promise: Promise<unknown>,
  { code, ...details }: { readonly code: ErrorCode } & Partial<ErrorDetails>,
): Promise<FedwayError> {
  const thrown: unknown = await promise.then(
    () => expect.fail("succeeded"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof FedwayError)) throw new Error("rejected with something else", { cause: thrown });
  expect({ code: thrown.code, message: thrown.message }).toEqual({ code, message: thrown.message });
  expect(thrown.details).toMatchObject(details);
  return thrown;
}
