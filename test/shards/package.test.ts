import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  fault,
  hostPackages,
  linesOf,
  makePackage,
  packagedQueries,
  throughComunica,
  throughFedway,
} from "../support/benchmark-package.ts";
import { fromTurtle, selectFrom } from "../support/rdf-text.ts";
import type { RunningService } from "../support/running-service.ts";
import { filesIn } from "../support/shard-build.ts";
import { openBuiltWorkspace, openWorkspace } from "../support/shard-workspace.ts";

describe("the package of the example", () => {
  let folder: string;
  let shards: string;
  let service: RunningService;
  beforeAll(async () => {
    ({ folder: shards } = await openBuiltWorkspace());
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
      ["path", `${prefix} SELECT ?n WHERE { ?p h:name|h:coast ?n }`],
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
      ["path", "not-federable", expect.stringContaining("h:name|h:coast")],
      ["describe", "not-federable", "Engines describe a resource differently."],
      ["from", "not-federable", "SERVICE cannot name the dataset of its endpoint (FROM)."],
    ]);
    const questions = await linesOf<{ id: string; question: string; query: string }>(folder, "questions.jsonl");
    expect(questions.slice(0, 2)).toEqual([
      { id: "ok", question: "What is ok?", query: "ok" },
      { id: "again", question: "What is again?", query: "ok" },
    ]);
  });

  it("does not replace a folder of something else", async () => {
    const { folder, dataDir } = await openBuiltWorkspace();
    await expect(makePackage(folder, dataDir)).rejects.toMatchObject({ code: "REQUEST_INVALID" });
    await expect(makePackage(dataDir)).rejects.toMatchObject({ code: "SHARDS_UNKNOWN" });
  });
});
