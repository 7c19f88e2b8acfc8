import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type StateWatch, watchState } from "../../../src/store/watch-state.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";

const everyMs = 1_000;
const lifeKey = "state/life";

let nowMs = 0;
let store: Store;
/** What every read of the store waits for, or fails with. */
let before: () => Promise<void> = async () => {};
let onLost = vi.fn<() => Promise<void>>();
let onFault = vi.fn<(error: unknown) => void>();
let watch: StateWatch | undefined;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  nowMs = 0;
  store = openSqliteStore({ path: ":memory:" });
  before = async () => {};
  onLost = vi.fn(async () => {});
  onFault = vi.fn();
});
afterEach(() => {
  watch?.close();
  vi.useRealTimers();
});

async function begin(): Promise<StateWatch> {
  const watched: Store = {
    ...store,
    async get(key) {
      await before();
      return store.get(key);
    },
  };
  watch = await watchState({ store: watched, now: () => nowMs, everyMs, onLost, onFault });
  return watch;
}

/** The next look, to its end. */
async function look(): Promise<void> {
  nowMs += everyMs;
  vi.advanceTimersByTime(everyMs);
  await new Promise(setImmediate);
}

const down = (): Promise<void> => Promise.reject(new FedwayError("STORE_FAILED", "It is away."));

describe("a state that is there", () => {
  it("is neither lost nor failing, whoever began it", async () => {
    const first = await begin();
    await look();
    expect(first).toMatchObject({ lostAtMs: undefined, failingSinceMs: undefined });
    first.close();
    const second = await begin();
    await look();
    expect(second).toMatchObject({ lostAtMs: undefined, failingSinceMs: undefined });
    expect(onLost).not.toHaveBeenCalled();
  });
});

describe("a state that was emptied", () => {
  it("is told once, and a new one stands in its place", async () => {
    const state = await begin();
    await store.delete(lifeKey);
    for (let times = 0; times < 3; times += 1) await look();
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(state.lostAtMs).toBe(everyMs);
    expect(await store.get(lifeKey)).toBeDefined();
  });

  it("is told also when another process has begun a new one already", async () => {
    const state = await begin();
    await store.put(lifeKey, "another-life");
    await look();
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(state.lostAtMs).toBe(everyMs);
  });

  it("keeps the moment of its loss while the new one cannot be taken up", async () => {
    const state = await begin();
    onLost.mockRejectedValueOnce(new FedwayError("STORE_FAILED", "Not yet.")).mockRejectedValueOnce(new Error("no"));
    await store.delete(lifeKey);
    await look();
    await look();
    expect(state).toMatchObject({ lostAtMs: everyMs, failingSinceMs: everyMs });
    await look();
    expect(onLost).toHaveBeenCalledTimes(3);
    expect(state).toMatchObject({ lostAtMs: everyMs, failingSinceMs: undefined });
  });

  it("is told again when it is lost again", async () => {
    const state = await begin();
    await store.delete(lifeKey);
    await look();
    await store.delete(lifeKey);
    await look();
    expect(onLost).toHaveBeenCalledTimes(2);
    expect(state.lostAtMs).toBe(2 * everyMs);
  });
});

describe("a store that fails", () => {
  it("is failing since the first time, until it answers", async () => {
    const state = await begin();
    before = down;
    for (let times = 0; times < 3; times += 1) await look();
    expect(state.failingSinceMs).toBe(everyMs);
    expect(onFault).toHaveBeenCalledOnce();
    before = async () => {};
    await look();
    expect(state).toMatchObject({ failingSinceMs: undefined, lostAtMs: undefined });
  });

  it("stops the start", async () => {
    before = down;
    await expect(begin()).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it("is not asked twice at once, however slow it is", async () => {
    await begin();
    const { promise, resolve } = Promise.withResolvers<void>();
    const asked = vi.fn(() => promise);
    before = asked;
    for (let times = 0; times < 5; times += 1) await look();
    expect(asked).toHaveBeenCalledTimes(1);
    resolve();
  });
});

it("says nothing any more once it is closed, not even of a look under way", async () => {
  const state = await begin();
  const { promise, reject } = Promise.withResolvers<void>();
  before = () => promise;
  await look();
  state.close();
  reject(new FedwayError("STORE_FAILED", "The store is closed."));
  await new Promise(setImmediate);
  expect(onFault).not.toHaveBeenCalled();
  expect(state.failingSinceMs).toBeUndefined();
});

it("does not take up a new state once it is closed", async () => {
  const state = await begin();
  const { promise, resolve } = Promise.withResolvers<void>();
  await store.delete(lifeKey);
  before = () => promise;
  await look();
  state.close();
  resolve();
  await new Promise(setImmediate);
  expect(onLost).not.toHaveBeenCalled();
});
