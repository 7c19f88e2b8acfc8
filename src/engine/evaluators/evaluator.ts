import { getHeapStatistics } from "node:v8";
import { createPatternSources } from "../sources/pattern-source.ts";
import { createComunicaEngine } from "../comunica/comunica-engine.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import { channelToParent, startChild } from "../../workers/child-process.ts";
import { createPeer, type Handled, type HandlerContext } from "../../workers/peer.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { createInProcessExecutor } from "../executor.ts";
import {
  type EvaluatorLimits,
  type Pong,
  type RunEnd,
  type RunParams,
  createRemoteClient,
  createRemoteDocuments,
} from "./outside-world.ts";

// The script of an evaluator process: it evaluates plans for its parent and asks the parent for everything outside.

const NOTE_EVERY_MS = 500;
// What is held is estimated, and the rest of the heap is needed for what is under way.
const HEAP_SHARE_HELD = 0.5;

startChild();
// Milliseconds since the epoch: sources compare deadlines with how long documents are fresh.
const now = (): number => performance.timeOrigin + performance.now();
const limits: EvaluatorLimits = JSON.parse(process.argv[2] ?? "{}");
const peer = createPeer(channelToParent(), {
  run: { answer: run },
  ping: { answer: async () => ({ head: { residentBytes: process.memoryUsage.rss() } satisfies Pong }) },
});
const client = createRemoteClient(peer, now);
const openSource = createPatternSources({ documents: createRemoteDocuments(peer), now });
const maxHeldTogetherBytes = getHeapStatistics().heap_size_limit * HEAP_SHARE_HELD;
const engine = createComunicaEngine({ client, openSource, now, maxHeldTogetherBytes, ...limits });
const executor = createInProcessExecutor(engine);
await peer.call("ready", undefined, { signal: new AbortController().signal });

async function run(params: RunParams, context: HandlerContext): Promise<Handled> {
  const { plan, format, partial, timeoutMs } = params;
  const sources: ExecutionBounds["sources"] = new Map();
  const bounds = { signal: context.signal, deadlineMs: now() + timeoutMs, partial, sources, trace: params.run };
  const tell = (): void => context.note([...sources.values()]);
  const telling = setInterval(tell, NOTE_EVERY_MS);
  const over = (): void => {
    clearInterval(telling);
    tell();
  };
  try {
    const { body, end } = await executor.fetch(plan, { format }, bounds);
    const pieces = bytesOf(body)[Symbol.asyncIterator]();
    // The head waits for the first byte: until then the run may be begun again in another process.
    const first = await pieces.next();
    tell();
    return {
      head: undefined,
      body: whole(first, pieces, over),
      end: async (): Promise<RunEnd> => ({ rows: await end }),
    };
  } catch (error) {
    over();
    throw toFedwayError(error);
  }
}

async function* whole(
  first: IteratorResult<Uint8Array>,
  rest: AsyncIterator<Uint8Array>,
  over: () => void,
): AsyncIterable<Uint8Array> {
  try {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    over();
  }
}
