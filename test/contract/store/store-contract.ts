import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import type { Store, StoredDocument } from "../../../src/store/store.ts";

/** A store under test and its time. */
export interface StoreHarness {
  readonly store: Store;
  /** Lets this much of the store's time pass. */
  advance(ms: number): Promise<void>;
  /** Ends the store and removes what it left. */
  dispose(): Promise<void>;
}

const expiryMs = 200;
const muchLaterMs = 60_000;

/** Names that no other case uses. */
let cases = 0;
const fresh = (name: string): string => {
  cases += 1;
  return `case-${cases}/${name}`;
};

const keysOf = (documents: readonly StoredDocument[]): string[] => documents.map(({ key }) => key);

async function shouldReject(work: Promise<unknown>, code: ErrorCode): Promise<void> {
  await expect(work).rejects.toMatchObject({ name: "FedwayError", code });
}

/** What the port `Store` promises; every adapter runs it. */
export function describeStore(adapter: string, create: () => Promise<StoreHarness>): void {
  describe(`${adapter} as a Store`, () => {
    let harness: StoreHarness;
    let store: Store;
    beforeAll(async () => {
      harness = await create();
      store = harness.store;
    });
    afterAll(() => harness.dispose());

    it("has its name", () => expect(adapter).toContain(store.name));

    describe("documents", () => {
      it("gives back what was put", async () => {
        const key = fresh("a");
        expect(await store.get(key)).toBeUndefined();
        const version = await store.put(key, '{"a":1}');
        expect(version).toBeGreaterThan(0);
        expect(await store.get(key)).toEqual({ key, value: '{"a":1}', version });
      });
      it.each([
        ["empty text", ""],
        ["control characters", "a\u0000b\r\n\t\u001f"],
        ["every plane", "é\u{ffff}\u{1f600}\u{10ffff}"],
        ["a megabyte", "0123456789abcdef".repeat(65_536)],
      ])("keeps %s as it is", async (_, value) => {
        const key = fresh("ключ \u{1f600}");
        await store.put(key, value);
        expect((await store.get(key))?.value).toBe(value);
      });
      it("gives every change a greater version", async () => {
        const key = fresh("a");
        const versions = [await store.put(key, "1"), await store.put(key, "1"), await store.put(key, "2")];
        expect(versions).toEqual(versions.toSorted((left, right) => (left ?? 0) - (right ?? 0)));
        expect(new Set(versions).size).toBe(3);
      });
      it("never gives a version twice, also after a deletion", async () => {
        const key = fresh("a");
        const before = await store.put(key, "old");
        await store.delete(key);
        const after = await store.put(key, "new");
        expect(after).toBeGreaterThan(before ?? Number.NaN);
        expect(await store.put(key, "lost", { ifVersion: before ?? 0 })).toBeUndefined();
        expect((await store.get(key))?.value).toBe("new");
      });
      it("writes only on the version it is told", async () => {
        const key = fresh("a");
        expect(await store.put(key, "1", { ifVersion: 7 })).toBeUndefined();
        const version = (await store.put(key, "1", { ifVersion: 0 })) ?? 0;
        expect(version).toBeGreaterThan(0);
        expect(await store.put(key, "2", { ifVersion: 0 })).toBeUndefined();
        expect(await store.put(key, "2", { ifVersion: version + 1 })).toBeUndefined();
        expect(await store.get(key)).toMatchObject({ value: "1", version });
        expect(await store.put(key, "2", { ifVersion: version })).toBeGreaterThan(version);
        expect(await store.get(key)).toMatchObject({ value: "2" });
      });
      it("lets one of many writers on the same version win", async () => {
        const key = fresh("a");
        const version = (await store.put(key, "0")) ?? 0;
        const writers = Array.from({ length: 20 }, (_, index) => store.put(key, `${index}`, { ifVersion: version }));
        const won = (await Promise.all(writers)).flatMap((given, index) => (given === undefined ? [] : [index]));
        expect(won).toHaveLength(1);
        expect((await store.get(key))?.value).toBe(`${won[0]}`);
      });
      it("deletes, on a version where one is given", async () => {
        const key = fresh("a");
        expect(await store.delete(key)).toBe(false);
        const version = (await store.put(key, "1")) ?? 0;
        expect(await store.delete(key, { ifVersion: version + 1 })).toBe(false);
        expect(await store.delete(key, { ifVersion: version })).toBe(true);
        expect(await store.get(key)).toBeUndefined();
        expect(await store.delete(key)).toBe(false);
      });
      it("forgets a document after its time, to the last trace", async () => {
        const prefix = fresh("");
        const gone = await store.put(`${prefix}short`, "1", { ttlMs: expiryMs });
        await store.put(`${prefix}long`, "1", { ttlMs: muchLaterMs });
        await store.put(`${prefix}always`, "1");
        expect(keysOf(await store.list(prefix))).toEqual([`${prefix}always`, `${prefix}long`, `${prefix}short`]);
        await harness.advance(expiryMs + 50);
        expect(await store.get(`${prefix}short`)).toBeUndefined();
        expect(keysOf(await store.list(prefix))).toEqual([`${prefix}always`, `${prefix}long`]);
        expect(await store.delete(`${prefix}short`)).toBe(false);
        expect(await store.put(`${prefix}short`, "2", { ifVersion: gone ?? 0 })).toBeUndefined();
        expect(await store.put(`${prefix}short`, "2", { ifVersion: 0 })).toBeGreaterThan(gone ?? Number.NaN);
        expect((await store.get(`${prefix}short`))?.value).toBe("2");
      });
      it("keeps a document that is put again without a time", async () => {
        const key = fresh("a");
        await store.put(key, "1", { ttlMs: expiryMs });
        await store.put(key, "2");
        await harness.advance(expiryMs + 50);
        expect((await store.get(key))?.value).toBe("2");
      });
      it.each([
        ["an empty key", ""],
        ["a key with a line break", "a\nb"],
        ["a key with NUL", "a\u0000b"],
        ["a key of 513 bytes", "k".repeat(513)],
        ["a key of 513 bytes in 171 characters", "€".repeat(171)],
        ["half a surrogate pair", "\ud800"],
      ])("refuses %s", async (_, key) => {
        await shouldReject(store.put(key, "1"), "REQUEST_INVALID");
        await shouldReject(store.get(key), "REQUEST_INVALID");
        await shouldReject(store.delete(key), "REQUEST_INVALID");
        await shouldReject(store.increment(key, 1), "REQUEST_INVALID");
        await shouldReject(store.acquire(key, "me", 1_000), "REQUEST_INVALID");
      });
      it("takes a key of 512 bytes", async () => {
        const key = fresh("").padEnd(512, "k");
        await store.put(key, "1");
        expect(keysOf(await store.list(key))).toEqual([key]);
      });
      it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses a life of %s ms", async (ttlMs) => {
        await shouldReject(store.put(fresh("a"), "1", { ttlMs }), "REQUEST_INVALID");
        await shouldReject(store.acquire(fresh("a"), "me", ttlMs), "REQUEST_INVALID");
        await shouldReject(store.increment(fresh("a"), 1, { ttlMs }), "REQUEST_INVALID");
      });
      it("refuses a value that is no Unicode text", async () => {
        await shouldReject(store.put(fresh("a"), "\udc00"), "REQUEST_INVALID");
      });
      it("refuses a value beyond 64 MiB", async () => {
        await shouldReject(store.put(fresh("a"), "€".repeat(23 * 1024 * 1024)), "REQUEST_INVALID");
      });
    });

    describe("listing", () => {
      it("is by prefix, in the order of the UTF-8 bytes", async () => {
        const prefix = fresh("");
        // In UTF-16 units the last two would come the other way round.
        const names = ["", " ", "A", "a", "a/b", "b", "é", "\u{e000}", "\u{ffff}", "\u{10000}"];
        for (const name of names.toReversed()) await store.put(prefix + name, "1");
        await store.put(`${prefix.slice(0, -1)}0`, "beside");
        expect(keysOf(await store.list(prefix))).toEqual(names.map((name) => prefix + name));
        expect(keysOf(await store.list(`${prefix}a`))).toEqual([`${prefix}a`, `${prefix}a/b`]);
        expect(await store.list(`${prefix}nothing`)).toEqual([]);
      });
      it.each(["\u{10ffff}", "%", "_", "[", "(", "*", "\\", "\ud7ff"])(
        "takes %j in a prefix as a character",
        async (odd) => {
          const prefix = fresh(odd);
          await store.put(`${prefix}a`, "1");
          await store.put(`${prefix}\u{10ffff}`, "1");
          await store.put(`${prefix.slice(0, -odd.length)}x`, "1");
          expect(keysOf(await store.list(prefix))).toEqual([`${prefix}a`, `${prefix}\u{10ffff}`]);
        },
      );
      it("gives pages that together hold every document once", async () => {
        const prefix = fresh("");
        const keys = Array.from({ length: 130 }, (_, index) => `${prefix}${String(index).padStart(4, "0")}`);
        await Promise.all(keys.map((key) => store.put(key, `value of ${key}`)));
        const pages: string[][] = [];
        for (let after: string | undefined; pages.length < 10; after = pages.at(-1)?.at(-1)) {
          const page = await store.list(prefix, { limit: 60, ...(after !== undefined && { after }) });
          if (page.length === 0) break;
          for (const { key, value } of page) expect(value).toBe(`value of ${key}`);
          pages.push(keysOf(page));
        }
        expect(pages.map(({ length }) => length)).toEqual([60, 60, 10]);
        expect(pages.flat()).toEqual(keys);
      });
      it("goes on after a key that is gone, and starts at the prefix after a key before it", async () => {
        const prefix = fresh("");
        for (const name of ["a", "c", "e"]) await store.put(prefix + name, "1");
        expect(keysOf(await store.list(prefix, { after: `${prefix}b` }))).toEqual([`${prefix}c`, `${prefix}e`]);
        expect(keysOf(await store.list(prefix, { after: "0", limit: 1 }))).toEqual([`${prefix}a`]);
        expect(await store.list(prefix, { after: `${prefix}e` })).toEqual([]);
      });
      it("fills a page past documents whose time is over", async () => {
        const prefix = fresh("");
        for (let index = 0; index < 70; index += 1) await store.put(`${prefix}a${index}`, "1", { ttlMs: expiryMs });
        await store.put(`${prefix}b`, "1");
        await harness.advance(expiryMs + 50);
        expect(keysOf(await store.list(prefix, { limit: 1 }))).toEqual([`${prefix}b`]);
      });
      it.each([0, -1, 1.5, 1e9])("refuses a limit of %s", async (limit) => {
        await shouldReject(store.list("", { limit }), "REQUEST_INVALID");
      });
    });

    describe("counters", () => {
      it("add up, also side by side", async () => {
        const counter = fresh("c");
        expect(await store.increment(counter, 5)).toBe(5);
        expect(await store.increment(counter, -2)).toBe(3);
        expect(await store.increment(counter, 0)).toBe(3);
        const sums = await Promise.all(Array.from({ length: 50 }, () => store.increment(counter, 1)));
        expect(sums.toSorted((left, right) => left - right)).toEqual(
          Array.from({ length: 50 }, (_, index) => 4 + index),
        );
      });
      it("start again after their time, which counts from the creation", async () => {
        const counter = fresh("c");
        await store.increment(counter, 1, { ttlMs: expiryMs });
        expect(await store.increment(counter, 1, { ttlMs: muchLaterMs })).toBe(2);
        await harness.advance(expiryMs + 50);
        expect(await store.increment(counter, 1)).toBe(1);
      });
      it("stay exact", async () => {
        const counter = fresh("c");
        expect(await store.increment(counter, Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
        await shouldReject(store.increment(counter, 1), "REQUEST_INVALID");
        await shouldReject(store.increment(counter, 0.5), "REQUEST_INVALID");
        expect(await store.increment(counter, -1)).toBe(Number.MAX_SAFE_INTEGER - 1);
      });
    });

    describe("leases", () => {
      it("have one owner at a time", async () => {
        const lease = fresh("l");
        expect(await store.acquire(lease, "one", muchLaterMs)).toBe(true);
        expect(await store.acquire(lease, "two", muchLaterMs)).toBe(false);
        expect(await store.acquire(lease, "one", muchLaterMs)).toBe(true);
        await store.release(lease, "two");
        expect(await store.acquire(lease, "two", muchLaterMs)).toBe(false);
        await store.release(lease, "one");
        expect(await store.acquire(lease, "two", muchLaterMs)).toBe(true);
      });
      it("end unless renewed", async () => {
        const lease = fresh("l");
        await store.acquire(lease, "one", expiryMs);
        await harness.advance(expiryMs + 50);
        expect(await store.acquire(lease, "two", muchLaterMs)).toBe(true);
        expect(await store.acquire(lease, "one", muchLaterMs)).toBe(false);
        await store.release(lease, "one");
        expect(await store.acquire(lease, "one", muchLaterMs)).toBe(false);
      });
      it("last as long as the last renewal says", async () => {
        const lease = fresh("l");
        await store.acquire(lease, "one", expiryMs);
        await store.acquire(lease, "one", muchLaterMs);
        await harness.advance(expiryMs + 50);
        expect(await store.acquire(lease, "two", muchLaterMs)).toBe(false);
      });
      it("go to one of many who ask at once", async () => {
        const lease = fresh("l");
        const asked = Array.from({ length: 20 }, (_, index) => store.acquire(lease, `owner-${index}`, muchLaterMs));
        expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
      });
    });

    it("keeps documents, counters and leases of one name apart", async () => {
      const name = fresh("same");
      await store.put(name, "document");
      expect(await store.increment(name, 3)).toBe(3);
      expect(await store.acquire(name, "owner", muchLaterMs)).toBe(true);
      expect((await store.get(name))?.value).toBe("document");
      await store.delete(name);
      expect(await store.increment(name, 1)).toBe(4);
      expect(await store.acquire(name, "other", muchLaterMs)).toBe(false);
    });

    it("agrees with a map under any sequence of writes", async () => {
      const key = fc.constantFrom("a", "b", "ab", "\u{10000}", "\u{ffff}");
      const step = fc.oneof(
        fc.record({ kind: fc.constant("put" as const), key, value: fc.string({ maxLength: 5 }), stale: fc.boolean() }),
        fc.record({ kind: fc.constant("delete" as const), key, value: fc.constant(""), stale: fc.boolean() }),
      );
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
          const prefix = fresh("");
          const model = new Map<string, { value: string; version: number }>();
          for (const { kind, key: name, value, stale } of steps) {
            const held = model.get(name);
            const ifVersion = (held?.version ?? 0) + (stale ? 1 : 0);
            if (stale) refused += 1;
            if (kind === "put") {
              const version = await store.put(prefix + name, value, { ifVersion });
              expect(version === undefined).toBe(stale);
              if (version !== undefined) model.set(name, { value, version });
            } else {
              expect(await store.delete(prefix + name, { ifVersion })).toBe(held !== undefined && !stale);
              if (!stale) model.delete(name);
            }
          }
          const expected = Array.from(model, ([name, { value, version }]) => ({ key: prefix + name, value, version }));
          const byBytes = (left: StoredDocument, right: StoredDocument) =>
            Buffer.compare(Buffer.from(left.key), Buffer.from(right.key));
          expect(await store.list(prefix)).toEqual(expected.toSorted(byBytes));
        }),
        { numRuns: 30, seed: 7 },
      );
      expect(refused).toBeGreaterThan(50);
    });
  });

  describe(`${adapter} once closed`, () => {
    it("fails every request, and says so", async () => {
      const harness = await create();
      const { store } = harness;
      await store.put("a", "1");
      await store.close();
      await shouldReject(store.get("a"), "STORE_FAILED");
      await shouldReject(store.put("a", "1"), "STORE_FAILED");
      await shouldReject(store.delete("a"), "STORE_FAILED");
      await shouldReject(store.list(""), "STORE_FAILED");
      await shouldReject(store.increment("a", 1), "STORE_FAILED");
      await shouldReject(store.acquire("a", "me", 1_000), "STORE_FAILED");
      await store.close();
      await harness.dispose();
    });
  });
}
