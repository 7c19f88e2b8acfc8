import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../support/running-service.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

// Inputs in the forms in which Spider4SPARQL is published: one file with the queries of all datasets, that declare no
// prefix, under `kg_name`; graphs and ontologies (RDF/XML) one file each.

let workspace: ShardWorkspace;
beforeEach(async () => {
  workspace = await openWorkspace();
});

const write = (name: string, text: string): Promise<void> => writeFile(join(workspace.input, name), text);

const v = "http://example.org/v/";
const graphOf = (dataset: string): string =>
  [1, 2, 3, 4]
    .flatMap((n) => [
      `<urn:${dataset}:s${n}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${v}singer> .`,
      `<urn:${dataset}:s${n}> <${v}singer#age> "${n}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
      `<urn:${dataset}:s${n}> <${v}singer#name> "Singer ${n}" .`,
    ])
    .join("\n");
const ages = "select ?n ?a where { ?t a :singer . ?t :singer\\#age ?a . ?t :singer\\#name ?n }";
const names = "select (count(*) as ?n) where { ?t :singer\\#name ?name . ?t :singer\\#age ?a }";
const questions = [
  { kg_name: "choir", question: "How old is each singer?", query: ages },
  { kg_name: "band", question: "How many are there?", query: names },
  { kg_name: "choir", question: "How many singers?", query: names },
];
const ontology = `<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:owl="http://www.w3.org/2002/07/owl#" xml:base="${v}">
  <owl:DatatypeProperty rdf:about="${v}singer#age"><rdfs:domain rdf:resource="${v}singer"/></owl:DatatypeProperty>
</rdf:RDF>`;
const shared = {
  dataset: undefined,
  datasets: ["choir", "band"],
  title: "Singers of {dataset}",
  inputs: ["{dataset}.nt"],
  queries: "dev.json",
  only: { kg_name: "{dataset}" },
  prefixes: { "": v },
  ontology: "{dataset}.owl",
  reading: { infer: true, typeIsPredicate: false },
};

async function writeAll(): Promise<void> {
  for (const dataset of ["choir", "band"]) {
    await write(`${dataset}.nt`, graphOf(dataset));
    await write(`${dataset}.owl`, ontology);
  }
  await write("dev.json", JSON.stringify(questions));
}

describe("several datasets in one description", () => {
  it("are built one after the other, each with its own queries", async () => {
    await writeAll();
    await workspace.describe(shared);
    const outcomes = await workspace.buildAll();
    expect(
      outcomes.map(({ report, folder }) => [report.dataset.title, report.queries.length, report.leftOut, folder]),
    ).toEqual([
      ["Singers of choir", 2, [], join(workspace.dataDir, "shards", "choir")],
      ["Singers of band", 1, [], join(workspace.dataDir, "shards", "band")],
    ]);
    // Only the ontology names a class for the query of the second: its domain.
    expect(outcomes[1]?.report.statistics.triples).toBe(12);
    const [first] = outcomes;
    expect((await workspace.verify(first?.folder ?? "")).outcome).toBe("held");
  });

  it("go below the folder that the command names", async () => {
    await writeAll();
    await workspace.describe({ ...shared, queries: "dev.csv" });
    const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
    const rows = questions.map(({ kg_name, question, query }) => [kg_name, question, query].map(cell).join(","));
    await write("dev.csv", ["kg_name,question,query", ...rows].join("\n"));
    const outcomes = await workspace.buildAll({ output: join(workspace.dataDir, "all") });
    expect(outcomes.map(({ folder }) => folder)).toEqual([
      join(workspace.dataDir, "all", "choir"),
      join(workspace.dataDir, "all", "band"),
    ]);
  });

  it("cannot share one folder", async () => {
    await writeAll();
    await workspace.describe({ ...shared, output: "here" });
    await expect(workspace.buildAll()).rejects.toMatchObject({ code: "REQUEST_INVALID" });
  });
});

describe("an ontology in RDF/XML", () => {
  it("that is broken is refused by name", async () => {
    await write("broken.owl", "<rdf:RDF");
    await workspace.describe({ ontology: "broken.owl" });
    await expect(workspace.build()).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringMatching(/^The ontology cannot be read/) as string,
    });
  });
});

describe("a dataset without triples", () => {
  let service: RunningService | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  it("is a result: no shards, and no query is federated", async () => {
    await write("harbour.nt", "# nothing\n");
    for (const mode of ["guaranteed", "paper"] as const) {
      const { report, folder } = await workspace.build({ fields: { mode } });
      expect(report.shards).toEqual([]);
      expect(report.statistics.triples).toBe(0);
      expect(report.queries.map(({ federated }) => federated)).toEqual(report.queries.map(() => false));
      expect(JSON.stringify(report)).not.toMatch(/NaN|Infinity/);
      expect((await workspace.verify(folder ?? "")).outcome).toBe("held");
    }
  });

  it("is hosted as what it is", async () => {
    await write("harbour.nt", "");
    await workspace.build();
    service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir, FEDWAY_EXAMPLES: "off" });
    const shown = await fetch(`${service.url}/api/shards/harbour`);
    expect([shown.status, await shown.json()]).toMatchObject([200, { shards: [] }]);
  });
});
