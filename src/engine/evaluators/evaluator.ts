import { getHeapStatistics } from "node:v8";
import { createPatternSources } from "../sources/pattern-source.ts";
import { createComunicaEngine } from "../comunica/comunica-engine.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import { channelToParent, startChild, yieldToService } from "../../workers/child-process.ts";
import { createPeer, type Handled, type HandlerContext } from "../../workers/peer.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import type { StepReports } from "../step-reports.ts";
import { partialKind } from "../completeness.ts";
import { createInProcessExecutor } from "../executor.ts";
import { KeyForms } from "../key-forms.ts";
import { heldHead } from "../held-head.ts";
import {
  type EvaluatorLimits,
  type FoundParams,
  type RunEnd,
  type RunNote,
  type RunParams,
  createRemoteClauseAt,
  createRemoteHolders,
  createRemoteClient,
  createRemoteDocuments,
} from "./outside-world.ts";

// The script of an evaluator process: it evaluates plans for its parent and asks the parent for everything outside.

const NOTE_EVERY_MS = 500;
// Held bytes are estimated, and pending work needs the rest of the heap.
const HEAP_SHARE_HELD = 0.5;

startChild();
// Milliseconds since the epoch: sources compare deadlines with how long documents are fresh.
const now = (): number => performance.timeOrigin + performance.now();
const limits: EvaluatorLimits = JSON.parse(process.argv[2] ?? "{}");
const peer = createPeer(channelToParent(), {
  run: { answer: run },
  ping: { answer: async () => ({ head: {} }) },
});
const client = createRemoteClient(peer, now);
const openSource = createPatternSources({ documents: createRemoteDocuments(peer), now });
const maxHeldTogetherBytes = getHeapStatistics().heap_size_limit * HEAP_SHARE_HELD;
const tellFound = (endpoint: FoundParams["endpoint"], found: FoundParams["found"]): void => {
  const told = peer.call("found", { endpoint, found } satisfies FoundParams, { signal: new AbortController().signal });
  told.catch(() => {});
};
const keyForms = new KeyForms((endpoint, lacksValues) => tellFound(endpoint, { lacksValues }));
const clauseAt = createRemoteClauseAt(peer);
const holders = createRemoteHolders(peer);
const outside = { client, keyForms, clauseAt, holders, openSource, now };
const engine = createComunicaEngine({ ...outside, maxHeldTogetherBytes, ...limits });
const executor = createInProcessExecutor(engine);
await evaluateOnce();
yieldToService();
await peer.call("ready", undefined, { signal: new AbortController().signal });

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
  await engine.execute(plan, {
    signal,
    deadlineMs: now() + 60_000,
    partial: false,
    sources: new Map(),
  });
}

async function run(params: RunParams, context: HandlerContext): Promise<Handled> {
  const { plan, format, partial, provenance, timeoutMs } = params;
  const sources: ExecutionBounds["sources"] = new Map();
  const steps: StepReports = new Map();
  const bounds = {
    signal: context.signal,
    deadlineMs: now() + timeoutMs,
    partial,
    provenance,
    sources,
    steps,
    trace: params.run,
  };
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
    return {
      head: undefined,
      body: followed(held, over),
      end: async (): Promise<RunEnd> => ({ rows: await end }),
    };
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
