import type { FederatedPlan } from "../plan/query-plan.ts";
import type { ExecutionBounds } from "./federation-engine.ts";

/** How much of an answer is held back before its head leaves, and for how long after its first byte. */
export interface HeadLimits {
  readonly heldHeadBytes: number;
  readonly heldHeadMs: number;
}

/** What the head waits for. */
interface HeadOptions extends HeadLimits {
  readonly plan: Pick<FederatedPlan, "members">;
  readonly bounds: Pick<ExecutionBounds, "sources">;
}

// Members that answer with rows that the query drops make no piece to wake up for.
const LOOK_EVERY_MS = 20;

/**
 * The pieces of a federated answer, once it is unlikely to fail any more: it is complete, each member has answered (SILENT
 * ones aside), or there are enough bytes, or it has begun long enough ago. Until then no byte has left, and a failure is
 * thrown here, where it can still be told as an error that names the member.
 */
export async function heldHead(
  pieces: AsyncIterator<Uint8Array>,
  { heldHeadBytes, heldHeadMs, plan, bounds }: HeadOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const held: Uint8Array[] = [];
  let bytes = 0;
  let next = pieces.next();
  let piece: IteratorResult<Uint8Array> | undefined = await next;
  const latest = performance.now() + heldHeadMs;
  while (!piece?.done) {
    if (piece) {
      held.push(piece.value);
      bytes += piece.value.length;
      next = pieces.next();
    }
    const leftMs = latest - performance.now();
    if (bytes >= heldHeadBytes || leftMs <= 0 || haveAnswered(plan, bounds)) {
      // Whoever reads the rest hears of its failure.
      next.catch(() => {});
      return joined(held, next, pieces);
    }
    piece = await within(next, Math.min(LOOK_EVERY_MS, leftMs));
  }
  return joined(held);
}

const haveAnswered = ({ members }: HeadOptions["plan"], { sources }: HeadOptions["bounds"]): boolean =>
  members.every(({ endpoint: { id, url }, silent }) => {
    if (silent) return true;
    const report = sources.get(id ?? url);
    return report !== undefined && (report.status !== "pending" || report.rows !== undefined);
  });

async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const over = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => over.resolve(undefined), ms);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function* joined(
  held: readonly Uint8Array[],
  next?: Promise<IteratorResult<Uint8Array>>,
  pieces?: AsyncIterator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  try {
    yield* held;
    const piece = await next;
    if (!piece || piece.done) return;
    yield piece.value;
    if (pieces) yield* { [Symbol.asyncIterator]: () => ({ next: () => pieces.next() }) };
  } finally {
    await pieces?.return?.();
  }
}
