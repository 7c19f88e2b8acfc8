import { beforeEach, describe, expect, it } from "vitest";
import { withOrigin, registerShards, unregisterLost } from "../../../../shards/src/service/register.ts";
import { entryIdOf } from "../../../../shards/src/shard-entry.ts";
import { withFields } from "../../../../src/registry/catalog/document-fields.ts";
import type { FinishedShard, ShardDataset } from "../../../../shards/src/finished-folder.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import { fakeSettings } from "../../../support/fake-query-service.ts";
import { openTestCatalog } from "../../../support/http-deps.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { type EditableCatalog, documentOf } from "../../../../src/registry/catalog.ts";

const { publicUrl } = fakeSettings;
const vocabulary = "https://harbour.example/vocabulary#";

const shard = (id: string, key: string, triples: number, topic?: string): FinishedShard => ({
  ...(topic !== undefined && { topic }),
  id,
  key,
  path: `/data/${id}.nt`,
  triples,
  bytes: 1,
  lineBytes: 1,
  sha256: "0",
});

const dataset = (more: Partial<ShardDataset> = {}): ShardDataset => ({
  dataset: "harbour",
  title: "Ferries",
  folder: "/data",
  version: "one",
  triples: 1_235,
  licence: "https://example.org/licence",
  citation: "A. Author",
  shards: [
    shard("base", "base", 1),
    shard("h.port.1.ab", `h/${vocabulary}Port/1`, 1_000, "Port with name"),
    shard("c.ferry.cd", `c/${vocabulary}Ferry`, 200, "Ferry with capacity"),
    shard("v.name.ef", `v/${vocabulary}name`, 34, "Harbours and all their names"),
  ],
  ...more,
});

let catalog: EditableCatalog;
let warnings: object[];
const register = (one: ShardDataset): Promise<readonly string[]> =>
  registerShards(one, { catalog, publicUrl, log: { warn: (fields: object) => void warnings.push(fields) } });
const lose = (...left: ShardDataset[]): Promise<void> =>
  unregisterLost(left, { catalog, publicUrl, log: { warn: (fields: object) => void warnings.push(fields) } });

beforeEach(async () => {
  catalog = await openTestCatalog(openSqliteStore({ path: ":memory:" }));
  warnings = [];
});

describe("shards in the catalogue", () => {
  it("have an entry each with a sentence, and a federation over them", async () => {
    const changed = await register(dataset());
    expect(changed).toEqual(["harbour-base", "harbour-h.port.1.ab", "harbour-c.ferry.cd", "harbour-v.name.ef"]);
    expect(changed.map((id) => catalog.byId(id)?.description)).toEqual([
      // A folder of an earlier version says nothing of what it is about.
      "1 triple of Ferries.",
      "1,000 triples of Ferries: Port with name.",
      "200 triples of Ferries: Ferry with capacity.",
      "34 triples of Ferries: Harbours and all their names.",
    ]);
    expect(catalog.byId("harbour-c.ferry.cd")?.title).toBe("Ferry with capacity");
    expect(catalog.byId("harbour-base")).toMatchObject({
      url: `${publicUrl}/shards/harbour/base/sparql`,
      title: "Ferries base",
      license: "https://example.org/licence",
      keywords: ["harbour", "shard"],
    });
    // Only a rule for a predicate takes the triples of a subject apart.
    const whole = `${publicUrl}/shards/harbour/#subjects-one`;
    expect(changed.map((id) => catalog.byId(id)?.subjectPartition)).toEqual([whole, whole, whole, undefined]);
    const federation = catalog.federation("harbour");
    expect(federation && catalog.membersOf(federation).map(({ id }) => id)).toEqual(changed.toSorted());
    const citations = catalog
      .document("endpoint", "harbour-base")
      ?.quads.filter(({ predicate }) => predicate.value === "http://purl.org/dc/terms/bibliographicCitation");
    expect(citations?.map(({ object }) => object.value)).toEqual(["A. Author"]);
    expect(warnings).toEqual([]);
  });

  it("keep what an operator wrote until the shards are others", async () => {
    await register(dataset());
    const before = catalog.document("endpoint", "harbour-base");
    const quads = withFields("endpoint", before?.quads ?? [], { notes: ["Slow on Mondays."] });
    await catalog.write({ kind: "endpoint", id: "harbour-base", mode: "replace", quads });
    expect(await register(dataset())).toEqual([]);
    expect(catalog.byId("harbour-base")?.notes).toEqual(["Slow on Mondays."]);
    expect(await register(dataset({ version: "two" }))).toHaveLength(4);
    expect(catalog.byId("harbour-base")?.notes).toEqual([]);
  });

  it("leave an id to an entry that has it already, and say so", async () => {
    const theirs = documentOf("endpoint", { id: "harbour-base", title: "Mine", url: "https://mine.example/sparql" });
    await catalog.write({ kind: "endpoint", id: "harbour-base", mode: "create", quads: theirs });
    expect(await register(dataset())).toHaveLength(3);
    expect(catalog.byId("harbour-base")?.title).toBe("Mine");
    expect(warnings).toMatchObject([{ id: "harbour-base" }]);
  });

  it("leave when the dataset has other ones, and nothing of other datasets does", async () => {
    await register(dataset());
    await register(dataset({ dataset: "harbour2", shards: [shard("base", "base", 5)] }));
    const fewer = dataset({ version: "two", shards: [shard("base", "base", 1), shard("h.new", "h/x/0", 2)] });
    expect(await register(fewer)).toEqual(["harbour-base", "harbour-h.new"]);
    const ids = catalog.entries.filter(({ keywords }) => keywords.includes("shard")).map(({ id }) => id);
    expect(ids).toEqual(["harbour-base", "harbour-h.new", "harbour2-base"]);
    const federation = catalog.federation("harbour");
    expect(federation && catalog.membersOf(federation).map(({ id }) => id)).toEqual(["harbour-base", "harbour-h.new"]);
    expect(warnings).toEqual([]);
  });

  it("leave when they are not hosted any more, and nothing else does", async () => {
    const others = catalog.entries.length;
    await register(dataset());
    await register(dataset({ dataset: "lake", shards: [shard("base", "base", 5)] }));
    await lose(dataset({ dataset: "lake", shards: [shard("base", "base", 5)] }));
    expect(catalog.entries.filter(({ keywords }) => keywords.includes("shard")).map(({ id }) => id)).toEqual([
      "lake-base",
    ]);
    expect(catalog.entries).toHaveLength(others + 1);
    expect([catalog.federation("harbour")?.id, catalog.federation("lake")?.id]).toEqual([undefined, "lake"]);
  });
});

describe("the description of a shard", () => {
  const found = { ...sampleDescription, title: "whatever" };
  const entry = { title: "Ferries base", description: "1 triple of Ferries: Port with name." };

  it("gets from the manifest what queries cannot find out", () => {
    const source = "https://example.org/ferries";
    expect(withOrigin(found, entry, dataset({ source }))).toStrictEqual({
      ...found,
      ...entry,
      license: "https://example.org/licence",
      citation: "A. Author",
      origin: source,
    });
  });

  it("loses a citation that the manifest has no more", () => {
    const { citation: _, origin: __, ...rest } = found;
    const { citation: ___, ...without } = dataset();
    expect(withOrigin(found, entry, without)).toStrictEqual({
      ...rest,
      ...entry,
      license: "https://example.org/licence",
    });
  });
});

describe("ids of entries", () => {
  it("fit the catalogue and stay different when they are cut", () => {
    const [one, other] = [
      entryIdOf("d".repeat(32), `${"s".repeat(40)}.1`),
      entryIdOf("d".repeat(32), `${"s".repeat(40)}.2`),
    ];
    expect([one.length, other.length]).toEqual([64, 64]);
    expect(one).not.toBe(other);
    expect(entryIdOf("harbour", "base")).toBe("harbour-base");
    expect(entryIdOf("pets", "name-x")).toBe("pets-name-x");
    expect(entryIdOf("pets-name", "x")).toMatch(/^pets-name-x-[0-9a-f]{8}$/);
    expect(entryIdOf("pets-name", "s0123456789")).toBe("pets-name-s0123456789");
  });
});
