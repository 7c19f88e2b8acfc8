import { toFedwayError } from "../../errors/fedway-error.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import type { SparqlClient } from "../../outbound/sparql-client.ts";
import type { Handled, HandlerContext, Handlers } from "../../workers/peer.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import type { DocumentParams, QueryHead, QueryParams } from "./protocol.ts";

/** What evaluators reach the outside world with. */
export interface OutsideWorld {
  readonly client: Pick<SparqlClient, "query">;
  readonly documents: DocumentReader;
  /** The clock of `deadlineMs`. */
  readonly now: () => number;
}

/** What is needed of the transport's document client. */
export interface DocumentReader {
  read<T>(
    request: Omit<DocumentParams, "run"> & { readonly signal: AbortSignal; readonly trace?: unknown },
    read: (document: ArrivingDocument) => Promise<T>,
  ): Promise<T>;
}

interface ArrivingDocument {
  readonly url: string;
  readonly mediaType: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** Answers what one evaluator process asks for its runs. */
export function outsideHandlers(world: OutsideWorld, runs: ReadonlyMap<number, ExecutionBounds>): Handlers {
  return {
    query: { answer: (params: QueryParams, context) => query(world, params, { context, runs }) },
    document: { answer: (params: DocumentParams, context) => document(world, params, { context, runs }) },
  };
}

interface Asked {
  readonly context: HandlerContext;
  readonly runs: ReadonlyMap<number, ExecutionBounds>;
}

async function query({ client, now }: OutsideWorld, params: QueryParams, { context, runs }: Asked): Promise<Handled> {
  const { run, timeoutMs, ...request } = params;
  const { signal } = context;
  const of = runs.get(run);
  const whose = { client: of?.client, trace: of?.trace };
  const answer = await client.query({ ...request, ...whose, signal, deadlineMs: now() + timeoutMs });
  const { body, end, whole, status, mediaType, contentEncoding, partial, firstByteMs, requests } = answer;
  const head: QueryHead = { status, mediaType, contentEncoding, partial, firstByteMs, requests };
  // Whoever reads the body hears of its failure there.
  end.catch(() => {});
  return { head, body: bytesOf(body), end: () => whole ?? end };
}

async function document(
  { documents }: OutsideWorld,
  params: DocumentParams,
  { context: { signal }, runs }: Asked,
): Promise<Handled> {
  const { run, ...request } = params;
  const arrived = Promise.withResolvers<ArrivingDocument>();
  const passedOn = Promise.withResolvers<void>();
  const over = documents.read({ ...request, signal, trace: runs.get(run)?.trace }, async (arriving) => {
    arrived.resolve(arriving);
    await passedOn.promise;
  });
  over.catch(arrived.reject);
  const { url, mediaType, pieces } = await arrived.promise;
  async function* body(): AsyncIterable<Uint8Array> {
    try {
      yield* pieces;
      passedOn.resolve();
    } catch (error) {
      passedOn.reject(toFedwayError(error));
      throw error;
    } finally {
      // Left early: nothing more is wanted of the request.
      passedOn.resolve();
    }
  }
  return { head: { url, mediaType }, body: body(), end: () => over };
}
