import { setImmediate as nextTurn } from "node:timers/promises";
import type { FederatedPlan } from "../plan/query-plan.ts";
import { isLost } from "./executor.ts";
import type { ExecutionBounds } from "./execution-bounds.ts";

/** How much of an answer is held back before its head leaves. */
export interface HeadLimits {
  readonly heldHeadBytes: number;
}

/** Conditions under which the head is released. */
interface HeadOptions extends HeadLimits {
  readonly plan: Pick<FederatedPlan, "members">;
  readonly bounds: Pick<ExecutionBounds, "sources" | "partial">;
}

// Members that answer with rows that the query drops make no piece to wake up for.
const LOOK_EVERY_MS = 20;

/**
 * The pieces of a federated answer, once no request under way can fail before its first outcome: the answer is complete, each
 * endpoint that was asked has given rows, ended or failed (SILENT ones aside), or there are enough bytes. No time decides:
 * however slow the host, a member that refuses is thrown here, before any byte has left, as an error that names it.
 */
export async function heldHead(
  pieces: AsyncIterator<Uint8Array>,
  { heldHeadBytes, plan, bounds }: HeadOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const silent = new Set(plan.members.flatMap(({ endpoint, silent: is }) => (is ? [endpoint.id ?? endpoint.url] : [])));
  const held: Uint8Array[] = [];
  let bytes = 0;
  let next = pieces.next();
  let piece: IteratorResult<Uint8Array> | undefined = await next;
  while (!piece?.done) {
    if (piece) {
      held.push(piece.value);
      bytes += piece.value.length;
      next = pieces.next();
      // Seen below, or by whoever reads the rest.
      next.catch(() => {});
    }
    if (bytes >= heldHeadBytes || (await isSettled(bounds, silent))) return joined(held, next, pieces);
    piece = await within(next, LOOK_EVERY_MS);
  }
  return joined(held);
}

/** Each endpoint that was asked has an outcome, and those that are asked because of it have been asked. */
async function isSettled(bounds: HeadOptions["bounds"], silent: ReadonlySet<string>): Promise<boolean> {
  for (let turn = 0; turn < 2; turn++) {
    await nextTurn();
    if (!haveAnswered(bounds, silent)) return false;
  }
  return true;
}

const haveAnswered = ({ sources, partial }: HeadOptions["bounds"], silent: ReadonlySet<string>): boolean =>
  [...sources.values()].every((report) => {
    if (silent.has(report.endpoint)) return true;
    // The failure that ends the execution is on its way through the operators.
    if (isLost(report) && partial !== true) return false;
    return report.status !== "pending" || report.rows !== undefined || report.requests === 0;
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
