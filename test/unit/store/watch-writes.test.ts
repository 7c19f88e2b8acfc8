import { expect, it, vi } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Store } from "../../../src/store/store.ts";
import { watchWrites } from "../../../src/store/watch-writes.ts";

/** A disk with room for documents of at most so many characters. */
function diskOf(room: { characters: number }): Store {
  const put = async (_key: string, value: string): Promise<string> => {
    if (value.length > room.characters) throw new FedwayError("STORE_FAILED", "The disk is full.");
    return "1";
  };
  return { put } as unknown as Store;
}

it("a small document does not end what a larger one began; one as large is tried, and does", async () => {
  vi.useFakeTimers();
  const room = { characters: 100 };
  const watched = watchWrites(diskOf(room), { now: () => 7, everyMs: 1_000 });
  try {
    await expect(watched.store.put("a", "x".repeat(500))).rejects.toMatchObject({ code: "STORE_FAILED" });
    await watched.store.put("b", "x");
    expect(watched.fault()).toEqual({ sinceMs: 7, reason: "The disk is full." });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(watched.fault()).toBeDefined();
    room.characters = 1_000;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watched.fault()).toBeUndefined();
  } finally {
    watched.close();
    vi.useRealTimers();
  }
});
