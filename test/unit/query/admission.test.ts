import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Admission, type Admitted } from "../../../src/query/admission.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entrant = { characters: 10, timeoutMs: 60_000, signal: new AbortController().signal };

/** Calls of clients that are let in at once. */
async function enterNow(admission: Admission, clients: string): Promise<readonly Admitted[]> {
  const calls: Admitted[] = [];
  for (const client of clients) {
    const call = admission.enter({ ...entrant, client });
    expect(call).not.toBeInstanceOf(Promise);
    calls.push(await call);
  }
  return calls;
}

/** Calls of clients, each with a number; notes in which order they came in or failed. */
function enterAll(admission: Admission, clients: string): { readonly seen: string[]; readonly calls: Admitted[] } {
  const seen: string[] = [];
  const calls: Admitted[] = [];
  const counts = new Map<string, number>();
  for (const client of clients) {
    const number = (counts.get(client) ?? 0) + 1;
    counts.set(client, number);
    const entering = async (): Promise<Admitted> => admission.enter({ ...entrant, client });
    const letIn = (call: Admitted): number => {
      calls.push(call);
      return seen.push(`${client}${number}`);
    };
    entering().then(letIn, (error: { code: string }) => seen.push(`${client}${number}: ${error.code}`));
  }
  return { seen, calls };
}

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe("Admission", () => {
  // Clients in the order in which they come; whose calls are let in at once.
  it.each<[places: number, clients: string, within: string]>([
    [1, "a", "a1"],
    [2, "aa", "a1"],
    [2, "aab", "a1 b1"],
    [8, "aaaaaaaa", "a1 a2 a3 a4"],
    [8, "aaaaaaaabbbbbb", "a1 a2 a3 a4 b1 b2"],
    [8, "aaaaaaaabbbbbbccccd", "a1 a2 a3 a4 b1 b2 c1 d1"],
    [8, "abcdefghi", "a1 b1 c1 d1 e1 f1 g1 h1"],
  ])("of %i places gives clients that come as %s their share: %s", async (maxConcurrent, clients, within) => {
    const { seen } = enterAll(new Admission({ maxConcurrent }), clients);
    await settle();
    expect(seen.join(" ")).toBe(within);
  });

  it("lets those that wait in by turns of their clients as places come free, each client's in order", async () => {
    const admission = new Admission({ maxConcurrent: 2 });
    const within = await enterNow(admission, "xy");
    const { seen, calls } = enterAll(admission, "aaabb");
    expect(admission.waiting).toBe(5);
    for (const call of within) call.leave();
    await settle();
    expect(seen).toEqual(["a1", "b1"]);
    for (const order of ["a2", "b2", "a3"]) {
      calls.shift()?.leave();
      await settle();
      expect(seen.at(-1)).toBe(order);
    }
    expect(admission.waiting).toBe(0);
  });

  it("keeps a place for somebody else, however many of one client wait", async () => {
    const left: unknown[] = [];
    const admission = new Admission({
      maxConcurrent: 200,
      onLeave: (client, { requests, rows }) => left.push([client, requests, rows]),
    });
    const { seen } = enterAll(admission, "a".repeat(280));
    await settle();
    expect(seen.length).toBe(100);
    const [other] = await enterNow(admission, "b");
    other?.requests.take();
    other?.answered(7);
    other?.leave();
    other?.leave();
    expect(left).toEqual([["b", 1, 7]]);
  });

  it("gives the place of a call back once, however often it leaves", async () => {
    const admission = new Admission({ maxConcurrent: 1 });
    const [call] = await enterNow(admission, "a");
    const { seen } = enterAll(admission, "bc");
    call?.leave();
    call?.leave();
    await settle();
    expect(seen).toEqual(["b1"]);
  });

  it("refuses after the longest wait, or after the call's own time", async () => {
    let busy = 0;
    const admission = new Admission({ maxConcurrent: 1, maxWaitMs: 1_000, onBusy: () => (busy += 1) });
    const [call] = await enterNow(admission, "a");
    const { seen } = enterAll(admission, "b");
    const short = admission.enter({ ...entrant, timeoutMs: 100 });
    const refused = expect(short).rejects.toMatchObject({ code: "SERVICE_BUSY", details: { retryAfterMs: 1_000 } });
    await vi.advanceTimersByTimeAsync(100);
    await refused;
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(900);
    expect(seen).toEqual(["b1: SERVICE_BUSY"]);
    expect({ waiting: admission.waiting, busy }).toEqual({ waiting: 0, busy: 2 });
    call?.leave();
    await enterNow(admission, "c");
  });

  it("refuses at once what is too much to wait, in number, of one client, or in size", async () => {
    const admission = new Admission({ maxConcurrent: 1, maxWaiting: 3, maxWaitingCharacters: 35 });
    await enterNow(admission, "x");
    const { seen } = enterAll(admission, "aaabb");
    await settle();
    expect(seen.toSorted()).toEqual(["a3: SERVICE_BUSY", "b2: SERVICE_BUSY"]);
    const tooLong = async () => admission.enter({ ...entrant, characters: 6 });
    await expect(tooLong()).rejects.toThrow("1 calls are under way already");
  });

  it("forgets who goes while waiting", async () => {
    const admission = new Admission({ maxConcurrent: 1 });
    const [call] = await enterNow(admission, "x");
    const client = new AbortController();
    const going = expect(admission.enter({ ...entrant, signal: client.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    const { seen } = enterAll(admission, "n");
    client.abort();
    await going;
    const gone = admission.enter({ ...entrant, signal: AbortSignal.abort() });
    await expect(gone).rejects.toMatchObject({ code: "CANCELLED" });
    call?.leave();
    await settle();
    expect(seen).toEqual(["n1"]);
  });
});
