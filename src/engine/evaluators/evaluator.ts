import type * as RDF from "@rdfjs/types";
import { getHeapStatistics } from "node:v8";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { DocumentRequest } from "../../outbound/documents.ts";
import type { AnswerEnd, AnswerHead, SparqlAnswer, SparqlRequest } from "../../outbound/sparql-request.ts";
import type { FederatedClause, FederatedPlan } from "../../plan/query-plan.ts";
import type { HeldRows, HolderQuestion } from "../../plan/source-selection.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import { parseAnswer } from "../../results/parse.ts";
import { channelToParent, startChild, yieldToService } from "../../workers/child-process.ts";
import { createPeer, type Handled, type HandlerContext } from "../../workers/peer.ts";
import { partialKind } from "../completeness.ts";
import { createComunicaEngine } from "../comunica/comunica-engine.ts";
import { type BadTerms, createInProcessExecutor } from "../executor.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import { heldHead } from "../held-head.ts";
import { KeyForms } from "../key-forms.ts";
import { createPatternSources, type SourceDocument } from "../sources/pattern-source.ts";
import type { StepReports } from "../reports.ts";
import type {
  DocumentHead,
  EvaluatorCall,
  EvaluatorLimits,
  RunCall,
  RunEnd,
  RunNote,
  ServiceCall,
} from "./protocol.ts";

// The script of an evaluator process: it evaluates plans for its parent and asks the parent for everything outside.

const NOTE_EVERY_MS = 500;
// Held bytes are estimated, and pending work needs the rest of the heap.
const HEAP_SHARE_HELD = 0.5;

startChild();
const limits: EvaluatorLimits = JSON.parse(process.argv[2] ?? "{}");
const service = createPeer<ServiceCall>(channelToParent(), { answer });
const engine = createComunicaEngine({
  client: { query: askEndpoint },
  keyForms: new KeyForms((endpoint, lacksValues) => {
    const told = service.call({ method: "found", endpoint, lacksValues }, { signal: new AbortController().signal });
    told.catch(() => {});
  }),
  clauseAt,
  holders,
  openSource: createPatternSources({ documents: { fetch: readDocument }, now }),
  now,
  maxHeldTogetherBytes: getHeapStatistics().heap_size_limit * HEAP_SHARE_HELD,
  ...limits,
});
const executor = createInProcessExecutor(engine);
const started = evaluateOnce().then(yieldToService);
await started;

/** Milliseconds since the epoch: sources compare deadlines with how long documents are fresh. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

/** The first evaluation of a process loads and compiles what all use: no query has to wait for that. */
async function evaluateOnce(): Promise<void> {
  const query = "ASK { { SELECT (STR(?x) AS ?text) { VALUES ?x { 1 2 } VALUES ?x { 2 3 } FILTER(?x > 1) } } }";
  const plan: FederatedPlan = {
    kind: "federated",
    answer: "boolean",
    query,
    skeleton: query,
    clauses: [],
    members: [],
    notes: [],
  };
  const { signal } = new AbortController();
  await engine.execute(plan, { signal, deadlineMs: now() + 60_000, partial: false, sources: new Map() });
}

async function answer(call: EvaluatorCall, context: HandlerContext): Promise<Handled> {
  if (call.method === "run") return run(call, context);
  await started;
  return { head: undefined };
}

async function run(call: RunCall, context: HandlerContext): Promise<Handled<undefined, RunEnd>> {
  const { plan, format, partial, provenance, timeoutMs, run: trace } = call;
  const sources: ExecutionBounds["sources"] = new Map();
  const steps: StepReports = new Map();
  const { signal } = context;
  const bounds = { signal, deadlineMs: now() + timeoutMs, partial, provenance, sources, steps, trace };
  const tell = (): void => context.note({ sources: [...sources.values()], steps: [...steps] } satisfies RunNote);
  const telling = setInterval(tell, NOTE_EVERY_MS);
  const over = (): void => {
    clearInterval(telling);
    tell();
  };
  try {
    let headHasLeft = false;
    const { body, end } = await executor.fetch(plan, { format, headHasLeft: () => headHasLeft }, bounds);
    const pieces = bytesOf(body)[Symbol.asyncIterator]();
    // Until the head leaves the run may be begun again in another process.
    const held = await heldHead(pieces, { ...limits, plan, bounds });
    headHasLeft = partialKind(plan, bounds) === undefined;
    tell();
    return { head: undefined, body: followed(held, over), end: async () => ({ rows: await end }) };
  } catch (error) {
    over();
    throw toFedwayError(error);
  }
}

async function* followed(pieces: AsyncIterable<Uint8Array>, over: () => void): AsyncIterable<Uint8Array> {
  try {
    yield* pieces;
  } finally {
    over();
  }
}

/** The run that something is asked for: its number is the trace of its bounds. */
function runOf({ trace }: { readonly trace?: unknown }): number {
  if (typeof trace === "number") return trace;
  throw new Error("A request belongs to no run");
}

/** The parent's SPARQL client: the address guard, rates and breakers stay in one place. */
async function askEndpoint({ signal, deadlineMs, trace, ...query }: SparqlRequest): Promise<SparqlAnswer> {
  const timeoutMs = Math.max(0, deadlineMs - now());
  const call: ServiceCall = { method: "query", run: runOf({ trace }), query, timeoutMs };
  const { head, body, end } = await service.call<AnswerHead, AnswerEnd>(call, { signal });
  return { ...head, body, whole: undefined, end };
}

/** The parent decides about endpoints that data name. */
async function clauseAt(clause: FederatedClause, iri: string, signal: AbortSignal): Promise<FederatedClause> {
  const call: ServiceCall = { method: "clause-at", clause, iri };
  const { head } = await service.call<FederatedClause | undefined, unknown>(call, { signal });
  if (head) return head;
  throw new FedwayError("SERVICE_TARGET_REFUSED", "Data may not name endpoints here.", {
    next: "Name the endpoint itself: SERVICE takes its URL or its id in the catalogue.",
  });
}

/** The parent's knowledge of what members have. */
async function holders(question: HolderQuestion, bounds: ExecutionBounds): Promise<HeldRows | undefined> {
  const call: ServiceCall = { method: "holders", run: runOf(bounds), question };
  return (await service.call<HeldRows | undefined, unknown>(call, { signal: bounds.signal })).head;
}

/** The parent's document client. Documents are parsed here, at the evaluator's cost. */
async function readDocument({ signal, trace, maxQuads, ...request }: DocumentRequest): Promise<SourceDocument> {
  const call: ServiceCall = { method: "document", run: runOf({ trace }), ...request };
  const { head, body } = await service.call<DocumentHead, unknown>(call, { signal });
  const { url, mediaType } = head;
  let bytes = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const piece of bytesOf(body)) {
      bytes += piece.length;
      yield piece;
    }
  }
  let badTerms: BadTerms | undefined;
  const result = await parseAnswer(counted(), {
    mediaType,
    kind: "quads",
    baseIri: url,
    namedGraphs: request.namedGraphs,
    limits: { maxRows: maxQuads },
    check: () => signal.throwIfAborted(),
    onBadTerm(fault) {
      badTerms = badTerms ? { ...badTerms, statements: badTerms.statements + 1 } : { statements: 1, fault };
    },
  });
  const quads: RDF.Quad[] = [];
  if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
  return { url, mediaType, quads, bytes, badTerms };
}
