import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Admission, createAdmission } from "../../../src/query/admission.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entrant = { characters: 10, timeoutMs: 60_000, signal: new AbortController().signal };

/** Lets queries in that wait, and notes which of them came in or failed. */
function enterAll(admission: Admission, names: readonly string[]): string[] {
  const seen: string[] = [];
  for (const name of names) {
    admission.enter(entrant)?.then(
      () => seen.push(name),
      (error: { code: string }) => seen.push(`${name}: ${error.code}`),
    );
  }
  return seen;
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe("createAdmission", () => {
  it("lets in as many as may run, and the others in their order as places come free", async () => {
    const admission = createAdmission({ maxConcurrent: 2 });
    expect([admission.enter(entrant), admission.enter(entrant)]).toEqual([undefined, undefined]);
    const seen = enterAll(admission, ["a", "b", "c"]);
    expect(admission.waiting).toBe(3);
    admission.leave();
    await settle();
    expect(seen).toEqual(["a"]);
    admission.leave();
    admission.leave();
    await settle();
    expect(seen).toEqual(["a", "b", "c"]);
    for (let left = 0; left < 2; left += 1) admission.leave();
    expect(admission.enter(entrant)).toBeUndefined();
    expect(admission.waiting).toBe(0);
  });

  it("does not let anybody overtake those that wait", async () => {
    const admission = createAdmission({ maxConcurrent: 1 });
    void admission.enter(entrant);
    const seen = enterAll(admission, ["a"]);
    admission.leave();
    expect(admission.enter(entrant)).toBeInstanceOf(Promise);
    await settle();
    expect(seen).toEqual(["a"]);
  });

  it("refuses after the longest wait, or after the query's own time", async () => {
    const admission = createAdmission({ maxConcurrent: 1, maxWaitMs: 1_000 });
    void admission.enter(entrant);
    const seen = enterAll(admission, ["a"]);
    const short = admission.enter({ ...entrant, timeoutMs: 100 });
    const refused = expect(short).rejects.toMatchObject({ code: "SERVICE_BUSY", details: { retryAfterMs: 1_000 } });
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(900);
    expect(seen).toEqual(["a: SERVICE_BUSY"]);
    expect(admission.waiting).toBe(0);
    admission.leave();
    expect(admission.enter(entrant)).toBeUndefined();
  });

  it("refuses at once what is too much to wait, in number or in size", () => {
    const admission = createAdmission({ maxConcurrent: 1, maxWaiting: 2, maxWaitingCharacters: 15 });
    void admission.enter(entrant);
    void admission.enter(entrant);
    expect(() => admission.enter(entrant)).toThrow("1 queries are running already.");
    void admission.enter({ ...entrant, characters: 5 });
    expect(() => admission.enter({ ...entrant, characters: 0 })).toThrow("1 queries are running already.");
  });

  it("forgets who goes while waiting", async () => {
    const admission = createAdmission({ maxConcurrent: 1 });
    void admission.enter(entrant);
    const client = new AbortController();
    const going = expect(admission.enter({ ...entrant, signal: client.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    const seen = enterAll(admission, ["next"]);
    client.abort();
    await going;
    const gone = admission.enter({ ...entrant, signal: AbortSignal.abort() });
    await expect(gone).rejects.toMatchObject({ code: "CANCELLED" });
    admission.leave();
    await settle();
    expect(seen).toEqual(["next"]);
  });
});
