import type { Store } from "../store/store.ts";
import { type DeliveryPayload, readDeliveryPayload } from "./webhook-message.ts";
import { parseRecord } from "./tally.ts";

/** A delivery that was given up. */
export interface DeadLetter {
  /** Of the delivery. */
  readonly id: string;
  readonly type: string;
  /** Id of the incident, and of its endpoint. */
  readonly incident: string;
  readonly endpoint: string;
  /** Names the receiver without its URL. */
  readonly receiver: string;
  /** ISO 8601. */
  readonly givenUpAt: string;
  readonly attempts: number;
  /** Why, in one sentence. */
  readonly reason: string;
}

/** Deliveries that were given up, kept for 30 days, the latest 1,000 (and a few more for a while). */
export interface DeadLetters {
  put(payload: DeliveryPayload, end: Pick<DeadLetter, "attempts" | "reason">): Promise<void>;
  /** Newest first. */
  list(): Promise<readonly DeadLetter[]>;
  payload(id: string): Promise<DeliveryPayload | undefined>;
  remove(id: string): Promise<void>;
}

const prefix = "webhook/dead/";
const keptMs = 30 * 24 * 3_600_000;
const most = 1000;
/** Letters between two looks at how many there are. */
const stride = 50;

/** Letters as documents under `webhook/dead/`. */
export function createDeadLetters({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: { now(): number };
}): DeadLetters {
  const all = async (): Promise<readonly { readonly key: string; readonly letter: DeadLetter }[]> => {
    const documents = await store.list(prefix, { limit: most + 2 * stride });
    return documents
      .flatMap(({ key, value }) => {
        const letter = letterOf(value);
        return letter === undefined ? [] : [{ key, letter }];
      })
      .toSorted((left, right) => Date.parse(right.letter.givenUpAt) - Date.parse(left.letter.givenUpAt));
  };
  return {
    async put(payload, { attempts, reason }) {
      const givenUpAt = new Date(clock.now()).toISOString();
      const value = JSON.stringify({ givenUpAt, attempts, reason, payload });
      await store.put(prefix + payload.id, value, { ttlMs: keptMs });
      if ((await store.increment("webhook/given-up", 1)) % stride !== 0) return;
      for (const { key } of (await all()).slice(most)) await store.delete(key);
    },
    list: async () => (await all()).slice(0, most).map(({ letter }) => letter),
    async payload(id) {
      const document = await store.get(prefix + id);
      return document && payloadOf(document.value);
    },
    async remove(id) {
      await store.delete(prefix + id);
    },
  };
}

const payloadOf = (value: string): DeliveryPayload | undefined => readDeliveryPayload(parseRecord(value)?.["payload"]);

function letterOf(value: string): DeadLetter | undefined {
  const { givenUpAt, attempts, reason } = parseRecord(value) ?? {};
  const payload = payloadOf(value);
  if (payload === undefined || typeof givenUpAt !== "string" || typeof attempts !== "number") return undefined;
  if (typeof reason !== "string") return undefined;
  const { id, receiver, message } = payload;
  const { type, data } = message;
  return { id, type, incident: data.id, endpoint: data.endpoint.id, receiver, givenUpAt, attempts, reason };
}
