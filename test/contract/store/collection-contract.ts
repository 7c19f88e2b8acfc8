import { Type } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { type Collection, createCollection, InvalidDocument } from "../../../src/store/collection.ts";
import { Mirror } from "../../../src/store/mirror.ts";
import type { DocumentChange, Store } from "../../../src/store/store.ts";
import type { StoreHarness } from "./store-contract.ts";
import { eventually } from "../../support/eventually.ts";
import { heardDamage } from "../../support/heard-damage.ts";

const schema = Type.Object({ count: Type.Integer(), name: Type.Optional(Type.String()) });
const lost = "The count begins anew.";
type Counter = Type.Static<typeof schema>;

let cases = 0;
const freshPrefix = (): string => {
  cases += 1;
  return `collection-${cases}/`;
};

async function entriesOf<Document>(collection: Collection<Document>, idPrefix?: string) {
  const found: (readonly [id: string, document: Document])[] = [];
  for await (const entry of collection.entries(idPrefix)) found.push(entry);
  return found;
}

const oneMore = (counter: Counter | undefined): Counter => ({ ...counter, count: (counter?.count ?? 0) + 1 });

/** What `watch`, collections and mirrors promise over each adapter. */
export function describeCollections(adapter: string, create: () => Promise<StoreHarness>): void {
  describe(`collections over ${adapter}`, () => {
    let harness: StoreHarness;
    let store: Store;
    beforeAll(async () => {
      harness = await create();
      store = harness.store;
    });
    afterAll(() => harness.dispose());

    describe("watch", () => {
      it("tells of what is put and deleted under a prefix, and nothing else", async () => {
        const prefix = `${freshPrefix()}odd *?[a]\\ `;
        const heard: (DocumentChange | undefined)[] = [];
        const end = store.watch(prefix, (change) => heard.push(change));
        await eventually(() => expect(heard).toEqual([undefined]));
        const version = await store.put(`${prefix}a`, "1");
        await store.put(`${prefix.replace("*", "x")}a`, "1");
        expect(await store.put(`${prefix}a`, "2", { ifVersion: 0 })).toBeUndefined();
        expect(await store.delete(`${prefix}b`)).toBe(false);
        await store.delete(`${prefix}a`);
        const expected = [undefined, { key: `${prefix}a`, version }, { key: `${prefix}a`, version: 0 }];
        await eventually(() => expect(heard).toEqual(expected));
        end();
        await store.put(`${prefix}c`, "1");
        await store.put(`${prefix}c`, "2");
        expect(heard).toEqual(expected);
      });
      it("tells several listeners, each with its own prefix", async () => {
        const prefix = freshPrefix();
        const [all, some]: [string[], string[]] = [[], []];
        const ends = [
          store.watch(prefix, (change) => all.push(change?.key ?? "-")),
          store.watch(`${prefix}é/`, (change) => some.push(change?.key ?? "-")),
          store.watch(`${prefix}é/`, (change) => some.push(change?.key ?? "-")),
        ];
        await eventually(() => expect([all[0], some[0], some[1]]).toEqual(["-", "-", "-"]));
        ends[2]?.();
        await store.put(`${prefix}é/1`, "1");
        await store.put(`${prefix}z`, "1");
        const told = (keys: readonly string[]): readonly string[] => keys.filter((key) => key !== "-");
        await eventually(() => expect(told(all)).toEqual([`${prefix}é/1`, `${prefix}z`]));
        expect(told(some)).toEqual([`${prefix}é/1`]);
        for (const end of ends) end();
      });
    });

    describe("a collection", () => {
      it("gives back typed documents, page by page, in the order of ids", async () => {
        const counters = createCollection({ store, prefix: freshPrefix(), schema, lost, pageSize: 2 });
        for (const count of [3, 1, 5, 2, 4]) await counters.put(`n${count}`, { count });
        expect(await counters.get("n3")).toEqual({ count: 3 });
        expect(await counters.get("n6")).toBeUndefined();
        const ids = (await entriesOf(counters)).map(([id, { count }]) => `${id}=${count}`);
        expect(ids).toEqual(["n1=1", "n2=2", "n3=3", "n4=4", "n5=5"]);
        expect(await entriesOf(counters, "n2")).toEqual([["n2", { count: 2 }]]);
        expect(await counters.delete("n3")).toBe(true);
        expect(await entriesOf(counters)).toHaveLength(4);
      });
      it.each([
        ["not JSON", "{", "it is not JSON"],
        ["another type", '{"count":"1"}', "count must be integer"],
        ["a missing field", "{}", "it must have required properties count"],
      ])("tells of %s, leaves it out, and writes over it", async (_, value, reason) => {
        const prefix = freshPrefix();
        const damaged = heardDamage();
        const counters = createCollection({ store, prefix, schema, lost });
        await store.put(`${prefix}bad`, value);
        await counters.put("good", { count: 1 });
        expect(await entriesOf(counters)).toEqual([["good", { count: 1 }]]);
        expect(damaged).toEqual([{ key: `${prefix}bad`, reason, lost, removed: false }]);
        expect(await counters.get("bad")).toBeUndefined();
        expect((await store.get(`${prefix}bad`))?.value).toBe(value);
        await counters.change("bad", oneMore);
        expect(await counters.get("bad")).toEqual({ count: 1 });
      });
      it("removes what cannot be read where it is told to", async () => {
        const prefix = freshPrefix();
        const counters = createCollection({ store, prefix, schema, lost, removesInvalid: true });
        await store.put(`${prefix}bad`, "[]");
        expect(await counters.get("bad")).toBeUndefined();
        expect(await store.get(`${prefix}bad`)).toBeUndefined();
      });
      it("keeps fields that the schema does not name", async () => {
        const prefix = freshPrefix();
        const counters = createCollection({ store, prefix, schema, lost });
        await store.put(`${prefix}a`, '{"count":1,"later":true}');
        await counters.change("a", oneMore);
        expect(JSON.parse((await store.get(`${prefix}a`))?.value ?? "")).toEqual({ count: 2, later: true });
      });
      it("stores what a codec makes of a document", async () => {
        const prefix = freshPrefix();
        const damaged = heardDamage();
        const names = createCollection(
          { store, prefix, schema, lost },
          {
            decode: ({ name }) => name ?? new InvalidDocument("it has no name"),
            encode: (name: string) => JSON.stringify({ count: name.length, name }),
          },
        );
        await names.put("a", "abc");
        expect((await store.get(`${prefix}a`))?.value).toBe('{"count":3,"name":"abc"}');
        expect(await names.get("a")).toBe("abc");
        await store.put(`${prefix}a`, '{"count":3}');
        expect(await names.get("a")).toBeUndefined();
        expect(damaged).toMatchObject([{ reason: "it has no name" }]);
      });
      it("loses no change of many at the same time", async () => {
        const counters = createCollection({ store, prefix: freshPrefix(), schema, lost });
        await Promise.all(Array.from({ length: 20 }, () => counters.change("a", oneMore)));
        expect(await counters.get("a")).toEqual({ count: 20 });
      });
      it("leaves a document alone when nothing is changed", async () => {
        const counters = createCollection({ store, prefix: freshPrefix(), schema, lost });
        const version = await counters.put("a", { count: 1 });
        expect(await counters.change("a", (found) => found)).toEqual({ before: { count: 1 }, after: { count: 1 } });
        await counters.change("a", () => undefined);
        expect((await counters.getVersioned("a"))?.version).toBe(version);
      });
      it("keeps a changed document as long as it is told to", async () => {
        const counters = createCollection({ store, prefix: freshPrefix(), schema, lost });
        await counters.change("a", oneMore, { ttlMs: ({ count }) => 200 * count });
        expect(await counters.get("a")).toEqual({ count: 1 });
        await harness.advance(250);
        expect(await counters.get("a")).toBeUndefined();
      });
    });

    describe("a mirror", () => {
      const shared = () => {
        const prefix = freshPrefix();
        const open = () => new Mirror(createCollection({ store, prefix, schema, lost, pageSize: 2 }));
        return { prefix, here: open(), there: open() };
      };
      const faults: unknown[] = [];
      const following = { clock: systemClock, onFault: (error: unknown) => void faults.push(error) };
      afterAll(() => expect(faults).toEqual([]));

      it("has what was stored when it is refreshed", async () => {
        const { prefix, here, there } = shared();
        for (const id of ["a", "b", "c"]) await there.put(id, { count: 1 });
        expect([...here.entries()]).toEqual([]);
        await here.refresh();
        expect([...here.entries()].map(([id]) => id)).toEqual(["a", "b", "c"]);
        const same = here.get("a");
        await there.delete("b");
        await store.put(`${prefix}c`, "nonsense");
        await here.refresh();
        expect([...here.entries()].map(([id]) => id)).toEqual(["a"]);
        expect(here.get("a")).toBe(same);
      });
      it("changes what others have changed meanwhile", async () => {
        const { here, there } = shared();
        await here.change("a", oneMore);
        await there.change("a", oneMore);
        await here.change("a", oneMore);
        expect(here.get("a")).toEqual({ count: 3 });
        expect(there.get("a")).toEqual({ count: 2 });
      });
      it("only deletes the document that it is given", async () => {
        const { here, there } = shared();
        await here.put("a", { count: 1 });
        const first = here.get("a");
        await there.change("a", oneMore);
        expect(await here.delete("a", first)).toBe(false);
        await here.refresh();
        expect(await here.delete("a", { count: 2 })).toBe(false);
        expect(await here.delete("a", here.get("a"))).toBe(true);
        expect(here.get("a")).toBeUndefined();
      });
      it("follows what others do", async () => {
        const { here, there } = shared();
        await there.put("a", { count: 1 });
        let told = 0;
        const followed = here.follow({ ...following, onChange: () => (told += 1) });
        await eventually(() => expect(here.get("a")).toEqual({ count: 1 }));
        await there.put("b", { count: 1 });
        await there.change("a", oneMore);
        await eventually(() => expect([here.get("a"), here.get("b")]).toEqual([{ count: 2 }, { count: 1 }]));
        await there.delete("b");
        await eventually(() => expect(here.get("b")).toBeUndefined());
        expect(told).toBeGreaterThan(1);
        await followed.stop();
        await there.put("c", { count: 1 });
        expect(here.get("c")).toBeUndefined();
      });
    });
  });
}
