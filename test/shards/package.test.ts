import { createHash } from "node:crypto";
import { cp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPackage } from "../../shards/src/package/open-package.ts";
import {
  fault,
  hostPackages,
  makePackage,
  packagedQueries,
  throughComunica,
  throughFedway,
} from "../support/benchmark-package.ts";
import { fromTurtle, selectFrom } from "../support/rdf-text.ts";
import type { RunningService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { filesIn } from "../support/shard-build.ts";
import { openBuiltWorkspace, openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

const edited =
  (from: string, to: string) =>
  (text: string): string =>
    text.replace(from, to);

describe("the package of the example", () => {
  let folder: string;
  let shards: string;
  let workspace: ShardWorkspace;
  let service: RunningService;
  beforeAll(async () => {
    ({ folder: shards, ...workspace } = await openBuiltWorkspace());
    ({ folder } = await makePackage(shards));
    service = await hostPackages(folder);
  });
  afterAll(() => service.close());

  it("has the same bytes when it is made again, also in the place of the first one", async () => {
    const files = filesIn(folder);
    const other = await makePackage(shards);
    expect(filesIn(other.folder)).toEqual(files);
    await makePackage(shards, other.folder);
    expect(filesIn(other.folder)).toEqual(files);
    const { files: listed, engine, questions, queries, outcomes } = other.manifest;
    expect({ engine, questions, queries, outcomes }).toEqual({
      engine: { name: "fedway", version: "1.2.3" },
      questions: 14,
      queries: 14,
      outcomes: { answered: 13, empty: 1 },
    });
    const hashed = Object.entries(files).flatMap(([name, content]) => {
      const bytes = Buffer.from(content, "latin1");
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return name === "manifest.json" ? [] : [{ name, bytes: bytes.length, sha256 }];
    });
    expect(listed).toEqual(hashed);
  });

  it("asks of each pattern the shards that the report says are touched", async () => {
    for (const { id, endpoints, touched, fanOut, unmatched } of await packagedQueries(folder)) {
      expect(fanOut.realised, id).toBe(touched.length);
      if (unmatched.length === 0) expect(endpoints.toSorted(), id).toEqual(touched.toSorted());
      else expect(id).toBe("submarines");
    }
  });

  it("has federated queries that give the gold answer through Fedway and, the gold one, through Comunica", async () => {
    const faults: string[] = [];
    const [fedway, comunica] = [throughFedway(service), throughComunica(service)];
    for (const query of await packagedQueries(folder)) {
      const found = {
        gold: await fault(query, query.gold, fedway),
        trivial: await fault(query, query.trivial, fedway),
        comunica: await fault(query, query.gold, comunica),
      };
      for (const [form, why] of Object.entries(found))
        if (why !== undefined) faults.push(`${query.id}, ${form}: ${why}`);
    }
    expect(faults).toEqual([]);
  });

  it.each<readonly [string, string, (text: string) => string | undefined, string]>([
    ["without a manifest", "manifest.json", () => undefined, "has no manifest.json"],
    ["of shards alone", "manifest.json", () => "{}", "its manifest.json is not that of a package"],
    ["of another version", "manifest.json", edited('"version": 1,', '"version": 2,'), "of a version that"],
    [
      "whose files lie elsewhere",
      "manifest.json",
      edited('"README.md"', '"../README.md"'),
      "its manifest.json is damaged",
    ],
    ["without questions", "questions.jsonl", () => undefined, "has no questions.jsonl"],
    ["with half a line", "queries.jsonl", (text) => text.slice(0, -20), "of its queries.jsonl is damaged"],
    [
      "with another answer",
      "queries.jsonl",
      edited('"kind":"bindings"', '"kind":"rows"'),
      "line 1 of its queries.jsonl",
    ],
    ["without a query", "queries.jsonl", (text) => text.slice(text.indexOf("\n") + 1), "the query of its question"],
    ["with other endpoints", "endpoints.json", edited('"entry"', '"name"'), "its endpoints.json is damaged"],
  ])("is not opened %s", async (_, name, edit, reason) => {
    const path = join(folder, name);
    const text = await readFile(path, "utf8");
    const changed = edit(text);
    try {
      await (changed === undefined ? rm(path) : writeFile(path, changed));
      await expect(openPackage(folder)).rejects.toMatchObject({
        code: "REQUEST_INVALID",
        message: expect.stringContaining(reason),
      });
    } finally {
      await writeFile(path, text);
    }
  });

  it("is not opened with a file that is too large", async () => {
    const copy = join(newFolder(), "package");
    await cp(folder, copy, { recursive: true });
    await truncate(join(copy, "questions.jsonl"), 257 * 1024 * 1024);
    await expect(openPackage(copy)).rejects.toMatchObject({
      message: expect.stringContaining("too large a questions"),
    });
  });

  it("is verified against its manifest, and its shards against what they were made of", async () => {
    const changed = "exports/qald.json";
    const path = join(folder, changed);
    const inputs = [join(workspace.input, "harbour.nt")];
    const found = await workspace.verify(folder, inputs);
    expect(found.checks.filter(({ outcome }) => outcome !== "held")).toEqual([]);
    expect(found.checks.map(({ name }) => name)).toEqual(expect.arrayContaining(["package", "complete", "answers"]));
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace("a", "b"));
    const { checks, outcome } = await workspace.verify(folder);
    await writeFile(path, text);
    expect([outcome, checks.length]).toEqual(["broken", 1]);
    expect(checks[0]?.findings).toEqual([{ subject: changed, reason: `The file ${changed} has changed.` }]);
  });

  it("describes the shards in VoID, with extensions and without", async () => {
    const endpoints = JSON.parse(await readFile(join(folder, "endpoints.json"), "utf8")) as {
      id: string;
      triples: number;
    }[];
    expect(endpoints.length).toBeGreaterThan(5);
    for (const { id, triples } of endpoints) {
      const [standard = "", extended = ""] = await Promise.all(
        ["standard", "extended"].map(async (variant) => readFile(join(folder, "void", `${id}.${variant}.ttl`), "utf8")),
      );
      for (const text of [standard, extended]) {
        const count =
          "SELECT ?n WHERE { ?d a <http://rdfs.org/ns/void#Dataset> ; <http://rdfs.org/ns/void#triples> ?n }";
        expect(selectFrom(fromTurtle(text), count, ["n"])).toEqual([[String(triples)]]);
      }
      expect(standard).not.toMatch(/void-ext:|fedway:/u);
      expect(extended).toMatch(/fedway:subjectClass/u);
    }
  });
});

describe("a package", () => {
  it("names what became of each question", async () => {
    const workspace = await openWorkspace();
    const prefix = "PREFIX h: <https://harbour.example/vocabulary#>";
    const asked = [
      ["ok", `${prefix} SELECT ?n WHERE { ?p a h:Port ; h:name ?n }`],
      ["again", `${prefix} SELECT ?n WHERE { ?p a h:Port ; h:name ?n }`],
      ["empty", `${prefix} SELECT ?n WHERE { ?p a h:Submarine ; h:name ?n }`],
      ["no", `${prefix} ASK { ?p a h:Port ; h:name ?n FILTER(?n = "Nowhere") }`],
      ["path", `${prefix} SELECT ?n WHERE { ?p h:name|h:coast ?n }`],
      ["route 1", `${prefix} SELECT ?p WHERE { <https://harbour.example/route/1> h:from ?p }`],
      ["describe", `${prefix} DESCRIBE ?p WHERE { ?p a h:Company }`],
      ["from", `${prefix} SELECT ?p FROM <urn:other> WHERE { ?p a h:Port }`],
      ["broken", `${prefix} SELECT ?n WHERE { ?p a h:Port`],
      ["ok", `${prefix} SELECT ?n WHERE { ?p a h:Ferry ; h:name ?n }`],
      ["service", `${prefix} SELECT ?p WHERE { SERVICE <http://elsewhere.example/> { ?p a h:Port } }`],
      ["nothing", undefined],
    ].map(([id, sparql]) => ({ id, question: `What is ${id}?`, sparql }));
    await writeFile(join(workspace.input, "queries.json"), JSON.stringify(asked));
    const { folder: shards = "" } = await workspace.build();
    const { folder, manifest } = await makePackage(shards);
    expect(manifest.leftOut.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      "broken unparsable",
      "ok duplicate-id",
      "service names-endpoints",
      "nothing no-query",
    ]);
    const found = await packagedQueries(folder);
    expect(found.map(({ id, outcome, why }) => [id, outcome, why])).toEqual([
      ["ok", "answered", undefined],
      ["empty", "empty", "No shard has a match of ?p a h:Submarine."],
      // An ASK that says no has its answer.
      ["no", "answered", undefined],
      ["path", "not-federable", expect.stringContaining("h:name|h:coast")],
      ["route 1", "answered", undefined],
      ["describe", "not-federable", "Engines describe a resource differently."],
      ["from", "not-federable", "SERVICE cannot name the dataset of its endpoint (FROM)."],
    ]);
    const { questions } = await openPackage(folder);
    // The number stands in the name of the thing.
    expect(questions.find(({ id }) => id === "route 1")?.flags).not.toContain("literal-missing");
    expect(questions.slice(0, 2)).toEqual([
      { id: "ok", question: "What is ok?", query: "ok", flags: [] },
      { id: "again", question: "What is again?", query: "ok", flags: [] },
    ]);
  });

  it("says which strata each query belongs to, and which shards it needs", async () => {
    const workspace = await openWorkspace();
    const asked = [
      ["join", "SELECT ?n { ?p a h:Port ; h:name ?n }"],
      ["one", "SELECT ?b { ?p h:berths ?b }"],
      ["exists", "SELECT ?s { ?s a h:Sailing FILTER NOT EXISTS { ?s h:delayMinutes ?d } }"],
      ["count", "SELECT (COUNT(?s) AS ?c) { ?s a h:Sailing }"],
      ["literal", "SELECT ?p { ?p a h:Port ; h:berths ?k . ?r a h:Route ; h:minutes ?k }"],
      ["compared", "SELECT ?p { ?p a h:Port ; h:berths ?b . ?r a h:Route ; h:minutes ?m FILTER(?b = ?m) }"],
      ["larger", "SELECT ?p { ?p a h:Port ; h:berths ?b . ?r a h:Route ; h:minutes ?m FILTER(?b > ?m) }"],
      ["iri", "SELECT ?c { ?c a h:Captain ; h:bornIn ?p . ?r a h:Route ; h:to ?p }"],
      ["empty", "SELECT ?n { ?p a h:Submarine ; h:name ?n }"],
    ].map(([id, text]) => ({ id, question: id, sparql: `PREFIX h: <https://harbour.example/vocabulary#> ${text}` }));
    await writeFile(join(workspace.input, "queries.json"), JSON.stringify(asked));
    const { folder: shards = "" } = await workspace.build();
    const { folder, manifest } = await makePackage(shards);
    const found = await packagedQueries(folder);
    const kinds = new Set(["vertical", "class", "horizontal", "union"]);
    expect(found.map(({ id, strata = [] }) => [id, strata.filter((each) => !kinds.has(each)).join(" ")])).toEqual([
      ["join", "join member-down"],
      ["one", "member-down"],
      ["exists", "exists member-down"],
      ["count", "aggregate-over-union member-down"],
      ["literal", "join unlike-keys empty"],
      ["compared", "unlike-keys empty"],
      ["larger", "empty"],
      ["iri", "join member-down"],
      ["empty", "join empty"],
    ]);
    // Both shards of sailings have some; a pattern of an empty answer loses nothing.
    const needed = new Map(found.map((query) => [query.id, query.needed]));
    expect(needed.get("count")).toEqual(found.find(({ id }) => id === "count")?.endpoints);
    expect([needed.get("count")?.length, needed.get("empty")]).toEqual([2, []]);
    expect(manifest.strata).toMatchObject({ "aggregate-over-union": 1, "unlike-keys": 2, empty: 4, "member-down": 5 });
  });

  it("says before it begins that the data are too large for the store, and what to do", async () => {
    const { folder } = await openBuiltWorkspace();
    await expect(makePackage(folder, undefined, 0.01)).rejects.toMatchObject({
      code: "REQUEST_TOO_LARGE",
      message: expect.stringMatching(
        /^Gold answers need a store of about 1 MB with all \d+ triples; it may have 0\.01 MB\.$/u,
      ) as string,
      details: { next: "Raise FEDWAY_HOSTED_TOTAL_MB to 1, or run fedway shards package, which may take 3,584 MB." },
    });
    const manifest = join(folder, "manifest.json");
    const text = await readFile(manifest, "utf8");
    await writeFile(manifest, text.replaceAll(/"lineBytes": \d+/gu, '"lineBytes": 1000000000'));
    await expect(makePackage(folder)).rejects.toMatchObject({
      code: "REQUEST_TOO_LARGE",
      details: { next: expect.stringContaining("hosted by any SPARQL engine") as string },
    });
  });

  it("does not replace a folder of something else", async () => {
    const { folder, dataDir } = await openBuiltWorkspace();
    await expect(makePackage(folder, dataDir)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    await expect(makePackage(dataDir)).rejects.toMatchObject({ code: "SHARDS_UNKNOWN" });
  });
});
