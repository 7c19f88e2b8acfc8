import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import type {
  AnswerEnd,
  EndpointTarget,
  SparqlAnswer,
  SparqlClient,
  SparqlRequest,
} from "../../outbound/sparql-client.ts";
import type { Handled, HandlerContext, Handlers, Peer } from "../../workers/peer.ts";
import type { HeadLimits } from "../held-head.ts";
import type { BadTerms } from "../executor.ts";
import type { SourceReport, StepReport } from "../reports.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import type { FederatedClause, FederatedPlan } from "../../plan/query-plan.ts";
import type { HeldRows, HolderQuestion } from "../../plan/source-selection.ts";
import type { PrunedKeys } from "../../plan/pruned-keys.ts";
import type { CoolingDown } from "./cooling-down.ts";
import type { ClauseAt } from "../bound-target.ts";
import type { Holders } from "../sources/key-routes.ts";
import type { ResultFormat } from "../../results/formats.ts";
import type { ArrivingDocument, DocumentClient, DocumentRequest } from "../../outbound/documents.ts";
import type { SourceDocument, SourceDocuments } from "../sources/pattern-source.ts";
import { parseAnswer } from "../../results/parse.ts";

/** Access of evaluators to the outside world. */
export interface OutsideWorld {
  readonly client: Pick<SparqlClient, "query">;
  /** Members that queries with `partial` do without for a while. */
  readonly coolingDown: CoolingDown;
  readonly documents: Pick<DocumentClient, "read">;
  /** The clock of `deadlineMs`. */
  readonly now: () => number;
  /** How a clause is asked at an endpoint that data name. @throws FedwayError where that may not be asked */
  readonly clauseAt?: ((clause: FederatedClause, iri: string) => FederatedClause) | undefined;
  /** Which keys members of a federation may have solutions for; absent: any. */
  readonly holders?: ((question: HolderQuestion, pruned: PrunedKeys | undefined) => Promise<HeldRows>) | undefined;
  /** An endpoint was found to know VALUES, or not. */
  readonly onFound?: ((endpoint: EndpointTarget, found: FoundParams["found"]) => void) | undefined;
}

/** Answers what one evaluator process asks for its runs. */
export function outsideHandlers(world: OutsideWorld, runs: ReadonlyMap<number, ExecutionBounds>): Handlers {
  return {
    query: { answer: (params: QueryParams, context) => query(world, params, { context, runs }) },
    found: {
      answer: async ({ endpoint, found }: FoundParams) => {
        world.onFound?.(endpoint, found);
        return { head: undefined };
      },
    },
    "clause-at": { answer: async ({ clause, iri }: ClauseAtParams) => ({ head: world.clauseAt?.(clause, iri) }) },
    holders: {
      answer: async ({ run, ...question }: HoldersParams) => ({
        head: await world.holders?.(question, runs.get(run)?.pruned),
      }),
    },
    document: { answer: (params: DocumentParams, context) => document(world, params, { context, runs }) },
  };
}

interface Asked {
  readonly context: HandlerContext;
  readonly runs: ReadonlyMap<number, ExecutionBounds>;
}

async function query(
  { client, coolingDown, now }: OutsideWorld,
  params: QueryParams,
  { context, runs }: Asked,
): Promise<Handled> {
  const { run, timeoutMs, ...request } = params;
  const { signal } = context;
  const of = runs.get(run);
  const { url, mirror } = request.endpoint;
  if (of?.partial === true && !mirror) coolingDown.require(url, timeoutMs);
  const noteLate = (): void => {
    const { code } = toFedwayError(signal.reason);
    if (code === "DEADLINE_EXCEEDED" && !of?.signal.aborted) coolingDown.tookTooLong(url, timeoutMs);
  };
  signal.addEventListener("abort", noteLate, { once: true });
  const whose = { client: of?.client, trace: of?.trace, partOf: of, fresh: of?.fresh, budget: of?.requests };
  const answer = await client.query({ ...request, ...whose, signal, deadlineMs: now() + timeoutMs });
  const { body, end, whole, ...head } = answer;
  // The reader of the body gets its failure there.
  end.then(() => answer.mirror === undefined && coolingDown.answered(url)).catch(() => {});
  return { head, body: bytesOf(body), end: () => whole ?? end };
}

async function document(
  { documents }: OutsideWorld,
  params: DocumentParams,
  { context: { signal }, runs }: Asked,
): Promise<Handled> {
  const { run, ...request } = params;
  runs.get(run)?.requests?.take();
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

/** Limits of an evaluator process. */
export interface EvaluatorLimits extends HeadLimits {
  readonly maxSolutions: number;
  readonly maxHeldBytes: number;
}

/** `run`: evaluate a plan; the head comes with the first byte, the body is the answer in the format. */
export interface RunParams {
  readonly run: number;
  readonly plan: FederatedPlan;
  readonly format: ResultFormat;
  readonly provenance: boolean;
  readonly partial: ExecutionBounds["partial"];
  /** Milliseconds that are left. Clocks of two processes are never compared. */
  readonly timeoutMs: number;
}

/** A note of `run`, now and then and before its head and its end: what the endpoints have contributed, and what each step took. */
export interface RunNote {
  readonly sources: readonly SourceReport[];
  readonly steps: readonly (readonly [name: string, step: StepReport])[];
}

/** The end of `run`. */
export interface RunEnd {
  readonly rows: number | undefined;
}

/** `query`: asked by an evaluator for one of its runs; the body is the endpoint's answer, decoded. */
interface QueryParams extends Omit<SparqlRequest, "signal" | "deadlineMs" | "trace" | "partOf" | "fresh" | "budget"> {
  readonly run: number;
  readonly timeoutMs: number;
}

/** The head of an answer to `query`; its end is an `AnswerEnd`. */
type QueryHead = Omit<SparqlAnswer, "body" | "end" | "whole">;

/** `document`: asked by an evaluator; the body is the document as it came, decoded. */
interface DocumentParams extends Omit<DocumentRequest, "signal" | "trace" | "maxQuads"> {
  readonly run: number;
}

/** The head of a document. */
type DocumentHead = Pick<SourceDocument, "url" | "mediaType">;

/** `found`: reported by an evaluator. */
export interface FoundParams {
  readonly endpoint: EndpointTarget;
  readonly found: { readonly lacksValues: boolean };
}

/** `holders`: asked by an evaluator for one of its runs; the head is a `HeldRows`. */
interface HoldersParams extends HolderQuestion {
  readonly run: number;
}

/** `clause-at`: asked by an evaluator, which does not decide about targets; the head is the clause, or nothing. */
interface ClauseAtParams {
  readonly clause: FederatedClause;
  readonly iri: string;
}

/** The parent's SPARQL client, seen from an evaluator: the address guard, rates and breakers stay in one place. */
export function createRemoteClient(peer: Peer, now: () => number): SparqlClient {
  return {
    async query({ signal, deadlineMs, trace, ...request }) {
      const params: QueryParams = { ...request, run: runOf(trace), timeoutMs: Math.max(0, deadlineMs - now()) };
      const { head, body, end } = await peer.call<QueryHead, AnswerEnd>("query", params, { signal });
      return { ...head, body, whole: undefined, end };
    },
    close: async () => {},
  };
}

/** The parent's word on endpoints that data name. */
export function createRemoteClauseAt(peer: Peer): ClauseAt {
  return async (clause, iri, signal) => {
    const params: ClauseAtParams = { clause, iri };
    const { head } = await peer.call<FederatedClause | undefined, unknown>("clause-at", params, { signal });
    if (head) return head;
    throw new FedwayError("SERVICE_TARGET_REFUSED", "Data may not name endpoints here.", {
      next: "Name the endpoint itself: SERVICE takes its URL or its id in the catalogue.",
    });
  };
}

/** The parent's knowledge of what members have. */
export function createRemoteHolders(peer: Peer): Holders {
  return async (question, { signal, trace }) => {
    const params: HoldersParams = { ...question, run: runOf(trace) };
    return (await peer.call<HeldRows | undefined, unknown>("holders", params, { signal })).head;
  };
}

/** The parent's document client. Documents are parsed in the evaluator, at its own cost. */
export function createRemoteDocuments(peer: Peer): SourceDocuments {
  return {
    async fetch({ signal, trace, maxQuads, ...request }) {
      const params: DocumentParams = { ...request, run: runOf(trace) };
      const { head, body } = await peer.call<DocumentHead, unknown>("document", params, { signal });
      const { url, mediaType } = head;
      let bytes = 0;
      async function* counted(): AsyncIterable<Uint8Array> {
        for await (const piece of bytesOf(body)) {
          bytes += piece.length;
          yield piece;
        }
      }
      const limits = { maxRows: maxQuads };
      const check = (): void => signal.throwIfAborted();
      let badTerms: BadTerms | undefined;
      const onBadTerm = (fault: string): void => {
        badTerms = { statements: (badTerms?.statements ?? 0) + 1, fault: badTerms?.fault ?? fault };
      };
      const { namedGraphs } = request;
      const parsing = { mediaType, kind: "quads", baseIri: url, namedGraphs, limits, check, onBadTerm } as const;
      const result = await parseAnswer(counted(), parsing);
      const quads: RDF.Quad[] = [];
      if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
      return { url, mediaType, quads, bytes, ...(badTerms !== undefined && { badTerms }) };
    },
  };
}

/** In an evaluator, what requests belong to is the number of their run. */
const runOf = (trace: unknown): number => (typeof trace === "number" ? trace : -1);
