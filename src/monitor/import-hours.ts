import { parsedJson } from "../json.ts";
import type { Store } from "../store/store.ts";
import type { HealthRepository } from "./health-repository.ts";
import type { History } from "./history.ts";
import { type HourBucket, hourOf } from "./hour-buckets.ts";

/** Document with the moment of the latest import. */
const markKey = "monitor/imported";
const overlapMs = 24 * 3_600_000;

/**
 * Takes in the hours that releases up to November 2026 kept as series, and those of the records, since the latest import:
 * such a release may have run in between. The series stay, so that it can. To be removed, with `Store.range`, after the
 * next release. @throws FedwayError `STORE_FAILED`
 */
export async function importHours(options: {
  readonly store: Store;
  readonly records: HealthRepository;
  readonly history: Pick<History, "keep">;
  readonly now: () => number;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { store, records, history, now, signal } = options;
  const toMs = now();
  const known = Array.from(records.entries());
  if (known.length === 0) return;
  const fromMs = Number((await store.get(markKey))?.value ?? 0) - overlapMs;
  for (const [id, { past }] of known) {
    if (signal.aborted) return;
    const points = await store.range(`monitor/hour/${id}`, { fromMs, toMs });
    const hours = points.flatMap(({ atMs, value }) => hourFrom(atMs, parsedJson(value)) ?? []);
    await history.keep(id, { after: { past: [...hours, ...past] } });
  }
  await store.put(markKey, String(toMs));
}

/** `n`: turns, `g`: good ones where not all were, `h`: bins of their durations, `f`: faults. */
function hourFrom(atMs: number, value: unknown): HourBucket | undefined {
  const { n, g = n, h = [], f } = Object(value);
  if (!Number.isSafeInteger(n) || !Number.isSafeInteger(g) || !Array.isArray(h)) return undefined;
  return { h: hourOf(atMs), n, good: g, bins: h, faults: f };
}
