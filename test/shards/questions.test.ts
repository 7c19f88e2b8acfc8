import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Store } from "oxigraph";
import { describe, expect, it } from "vitest";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { namedInputs } from "../../shards/src/load/input.ts";
import { packageLimits } from "../../shards/src/package/package-shards.ts";
import { type GeneratedQuestions, generateQuestions } from "../../shards/src/questions/generate-questions.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { exampleFolder, openWorkspace } from "../support/shard-workspace.ts";

const harbour = join(exampleFolder, "harbour.nt");

const questionsOf = (path: string, options: { seed?: number; most?: number } = {}): Promise<GeneratedQuestions> =>
  generateQuestions(namedInputs([{ path }]), {
    seed: 1,
    most: 60,
    ...options,
    openStore: storeOpener(packageLimits),
    signal: new AbortController().signal,
  });

function fileOf(name: string, text: string): string {
  const path = join(mkdtempSync(join(newFolder(), "questions-")), name);
  writeFileSync(path, text);
  return path;
}

describe("questions about a dataset", () => {
  it("are of all kinds, parse, and have answers, a superlative one row", async () => {
    const { questions } = await questionsOf(harbour);
    expect(new Set(questions.map(({ kind }) => kind))).toEqual(
      new Set(["count", "lookup", "filter", "superlative", "path", "group"]),
    );
    expect(new Set(questions.map(({ id }) => id)).size).toBe(questions.length);
    const store = new Store();
    store.load(readFileSync(harbour, "utf8"), { format: "application/n-triples" });
    for (const { id, kind, sparql } of questions) {
      const rows = store.query(sparql) as readonly unknown[];
      expect(rows.length, id).toBeGreaterThan(0);
      if (kind === "superlative" || kind === "count") expect(rows, id).toHaveLength(1);
    }
  });

  it("ask about every property that the data allow, and name the others", async () => {
    const { questions, uncovered } = await questionsOf(harbour);
    const names = new Set(
      questions.flatMap(({ sparql }) => Array.from(sparql.matchAll(/harbour:(\w+)/gu), ([, n]) => n)),
    );
    const data = readFileSync(harbour, "utf8");
    const properties = new Set(Array.from(data.matchAll(/> <\S+#(\w+)> /gu), ([, name]) => name));
    properties.delete("type");
    const missing = [...properties].filter((name) => !names.has(name));
    expect(new Set(missing)).toEqual(new Set(uncovered.map((iri) => iri.split("#")[1])));
    expect(missing.length).toBeLessThanOrEqual(2);
  });

  it("are the same for the same seed, and others for another", async () => {
    const first = await questionsOf(harbour);
    expect(await questionsOf(harbour)).toEqual(first);
    const other = await questionsOf(harbour, { seed: 2 });
    const texts = ({ questions }: GeneratedQuestions) => questions.map(({ question }) => question);
    expect(texts(other)).not.toEqual(texts(first));
    expect((await questionsOf(harbour, { most: 7 })).questions).toEqual(first.questions.slice(0, 7));
  });

  it("can be built into shards as they are", async () => {
    const workspace = await openWorkspace();
    const { questions } = await questionsOf(harbour, { most: 20 });
    writeFileSync(join(workspace.input, "queries.json"), JSON.stringify(questions));
    const { report } = await workspace.build({ dryRun: true });
    expect(report.leftOut).toEqual([]);
    // Both companies may lie in one bucket.
    const alone = report.queries.filter(({ id, federated }) => !federated && id !== "count-company");
    expect(alone.map(({ id }) => id)).toEqual([]);
  });

  it.each([
    ["no class", "<urn:a> <urn:name> 'x' ."],
    ["no name that can be read", "<urn:a> a <urn:Q1> ; <urn:P5> 'x' . <urn:b> a <urn:Q1> ; <urn:P5> 'y' ."],
    ["nothing", ""],
  ])("are none where there is %s", async (_, turtle) => {
    expect((await questionsOf(fileOf("data.ttl", turtle))).questions).toEqual([]);
  });

  it("quote nothing that could end a query or a sentence", async () => {
    const turtle = [
      "@prefix v: <https://example.org/vocabulary/> .",
      String.raw`<urn:a> a v:Person ; v:name "x\" } DROP ALL #" ; v:town "A\nB" .`,
      String.raw`<urn:b> a v:Person ; v:name "plain\\" ; v:town "C" .`,
      '<urn:c> a v:Person ; v:name "third" ; v:town "C" .',
      '<urn:d> a v:Person ; v:name "fourth" ; v:town "C" .',
    ];
    const { questions } = await questionsOf(fileOf("data.ttl", turtle.join("\n")));
    expect(questions.length).toBeGreaterThan(1);
    for (const { question } of questions) expect(question).toMatch(/^[^\n}]+$/u);
  });
});
