import { Type } from "typebox";
import { createCollection } from "../store/collection.ts";
import type { Store } from "../store/store.ts";
import { type Delivery, deliverySchema } from "./webhook-message.ts";

/** A delivery that was given up. */
export interface DeadLetter {
  /** Id of the delivery. */
  readonly id: string;
  readonly type: string;
  /** Id of the incident. */
  readonly incident: string;
  /** Id of its endpoint; absent where it is of a host or the network. */
  readonly endpoint?: string | undefined;
  /** Names the receiver without its URL. */
  readonly receiver: string;
  /** ISO 8601. */
  readonly givenUpAt: string;
  readonly attempts: number;
  /** Why, in one sentence. */
  readonly reason: string;
}

const keptMs = 30 * 24 * 3_600_000;
const mostLetters = 1000;
/** Letters between two looks at how many there are. */
const stride = 50;

const letterSchema = Type.Object({
  givenUpAt: Type.String(),
  attempts: Type.Number(),
  reason: Type.String(),
  payload: deliverySchema,
});

/** Deliveries that were given up, kept for 30 days, the latest 1,000 (and a few more for a while). */
export function createDeadLetters({ store, clock }: { readonly store: Store; readonly clock: { now(): number } }) {
  const letters = createCollection({
    store,
    prefix: "webhook/dead/",
    schema: letterSchema,
    lost: "A message that was given up is not listed.",
  });
  const newestFirst = async (): Promise<readonly DeadLetter[]> => {
    const found: DeadLetter[] = [];
    for await (const [, { payload, ...end }] of letters.entries()) {
      const { id, receiver, message } = payload;
      const { type, data } = message;
      found.push({ id, type, incident: data.id, endpoint: data.endpoint?.id, receiver, ...end });
    }
    return found.toSorted((left, right) => Date.parse(right.givenUpAt) - Date.parse(left.givenUpAt));
  };
  return {
    async put(payload: Delivery, end: Pick<DeadLetter, "attempts" | "reason">): Promise<void> {
      const givenUpAt = new Date(clock.now()).toISOString();
      await letters.put(payload.id, { givenUpAt, ...end, payload }, { ttlMs: keptMs });
      if ((await store.increment("webhook/given-up", 1)) % stride !== 0) return;
      for (const { id } of (await newestFirst()).slice(mostLetters)) await letters.delete(id);
    },
    list: async () => (await newestFirst()).slice(0, mostLetters),
    payload: async (id: string) => (await letters.get(id))?.payload,
    remove: (id: string) => letters.delete(id),
  };
}
