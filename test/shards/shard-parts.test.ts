import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { until } from "../support/eventually.ts";
import { fromTurtle, selectFrom } from "../support/rdf-text.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { exampleQueries, openBuiltWorkspace, openFineWorkspace, openWorkspace } from "../support/shard-workspace.ts";

interface Built {
  readonly id: string;
  readonly key: string;
  readonly properties?: readonly { property: string; subjectClasses: string[]; objectClasses: string[] }[];
}

const manifestOf = async (folder: string): Promise<{ dataset: string; shards: readonly Built[] }> =>
  JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));

let service: RunningService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

/** The text at a path, once it says this: shards are described by queries first, and completed at once. */
const textAt = (path: string, says: string): Promise<string | undefined> =>
  until(async () => {
    const response = await fetch(`${service?.url}${path}`, { headers: { accept: "text/turtle, */*" } });
    const text = await response.text();
    return response.ok && text.includes(says) ? text : undefined;
  });

function described(endpoint: string, detail: string, says: string): Promise<string | undefined> {
  return textAt(`/api/endpoints/${endpoint}/schema?detail=${detail}&format=text`, says);
}

const v = "https://harbour.example/vocabulary#";

describe("shards of the example", () => {
  it("say of their properties what the builder knows, and what they are a part of", async () => {
    const { dataDir, folder } = await openBuiltWorkspace();
    const { shards } = await manifestOf(folder);
    const idOf = (key: string): string => `harbour-${shards.find((shard) => shard.key === key)?.id}`;
    const [base, ferry, names] = [idOf("base"), idOf(`v/${v}ferry`), idOf(`v/${v}name`)];
    service = await startService({}, { FEDWAY_DATA_DIR: dataDir });

    // The shard of one property has no class of its own.
    expect(await described(ferry, "paths", "^")).toContain("harbour:Sailing^ --harbour:ferry--> harbour:Ferry^ (48)");
    expect(await described(ferry, "lines", "^")).toContain("harbour:Sailing^: harbour:ferry -> harbour:Ferry^ (48)");
    // Of several classes nobody counted each.
    expect(await described(names, "paths", "^")).toContain("harbour:Company^ --harbour:name--> xsd:string (?)");
    const part = `One of 2 parts of harbour:Company; the other is ${names} (harbour:name), as the shard builder says`;
    for (const detail of ["summary", "classes", "lines", "paths"]) {
      expect(await described(base, detail, "builder")).toContain(`\n${part}\n`);
    }
    expect(await (await fetch(`${service.url}/api/endpoints/${base}/schema?detail=lines`)).json()).toMatchObject({
      json: {
        parts: expect.arrayContaining([
          {
            class: `${v}Company`,
            source: "builder",
            parts: 2,
            siblings: [{ endpoint: names, properties: [`${v}name`] }],
          },
        ]),
        classes: [
          {
            properties: expect.arrayContaining([
              expect.objectContaining({
                iri: `${v}seat`,
                objectClasses: [],
                built: { subjectClasses: [`${v}Company`], objectClasses: [`${v}Port`] },
              }),
            ]),
          },
        ],
      },
    });

    // So do the pages, the tools of agents, and the federation.
    const told = `of companies; the other is ${names}, as the shard builder says.`;
    expect(await (await fetch(`${service.url}/endpoints/${base}`)).text()).toContain(told);
    const found = await fetch(`${service.url}/api/tools/find_endpoints`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ question: base }),
    });
    expect(await found.text()).toContain(told);
    const federation = await fetch(`${service.url}/api/federations/harbour`);
    expect(await federation.json()).toMatchObject({
      split: expect.arrayContaining([{ class: `${v}Company`, source: "builder", members: [base, names].toSorted() }]),
    });
    expect(await (await fetch(`${service.url}/federations/harbour`)).text()).toContain("as the shard builder says");

    // VoID says it in terms of its own.
    for (const variant of ["standard", "extended"]) {
      const graph = fromTurtle((await textAt(`/api/endpoints/${ferry}/void?variant=${variant}`, "fedway:part")) ?? "");
      const ends = `SELECT ?p ?s ?o WHERE { ?x <http://rdfs.org/ns/void#property> ?p ;
        <https://w3id.org/fedway/ns#subjectClass> ?s ; <https://w3id.org/fedway/ns#objectClass> ?o }`;
      expect(selectFrom(graph, ends, ["p", "s", "o"])).toEqual([[`${v}ferry`, `${v}Sailing`, `${v}Ferry`]]);
      const parts = `SELECT ?c ?n ?by (COUNT(?id) AS ?ids) WHERE { ?d <https://w3id.org/fedway/ns#part> ?x .
        ?x <http://rdfs.org/ns/void#class> ?c ; <https://w3id.org/fedway/ns#parts> ?n ;
          <https://w3id.org/fedway/ns#source> ?by ;
          <https://w3id.org/fedway/ns#sibling>/<http://purl.org/dc/terms/identifier> ?id } GROUP BY ?c ?n ?by`;
      expect(selectFrom(graph, parts, ["c", "n", "by", "ids"])).toEqual([[`${v}Sailing`, "6", "builder", "5"]]);
      // Nothing of it is said as if it had been found by asking.
      expect(selectFrom(graph, "SELECT ?x WHERE { ?x <http://rdfs.org/ns/void#classPartition> ?y }", ["x"])).toEqual(
        [],
      );
    }
  });

  it("are built the same each time", async () => {
    const texts = [await openBuiltWorkspace(), await openFineWorkspace().then(async (fresh) => fresh.build())];
    const [one, other] = await Promise.all(
      texts.map(async ({ folder = "" }) => readFile(join(folder, "manifest.json"), "utf8")),
    );
    expect(other).toBe(one);
    expect(one).toContain('"objectClasses"');
  });

  it.each([
    ["of an earlier version, without", (): undefined => undefined],
    [
      "that lie, with wrong",
      () => [{ property: `${v}none`, subjectClasses: ["urn:x:none"], objectClasses: ["urn:x:none"] }],
    ],
  ])("%s facts of the builder, are hosted and give the same answers", async (_, properties) => {
    const { dataDir, folder } = await openBuiltWorkspace();
    const manifest = await manifestOf(folder);
    const shards = manifest.shards.map((shard) => ({ ...shard, properties: properties() }));
    await writeFile(join(folder, "manifest.json"), JSON.stringify({ ...manifest, shards }));
    service = await startService({}, { FEDWAY_DATA_DIR: dataDir });
    const [first] = shards;
    await textAt(`/api/endpoints/harbour-${first?.id}/void`, "license");
    const query = (await exampleQueries()).find(({ sparql }) => sparql.includes("ferry"));
    const answer = await service.query(query?.sparql ?? "", {
      path: "/federations/harbour/sparql",
      accept: "text/csv",
    });
    expect({ status: answer.status, rows: (await answer.text()).trim().split("\n").length > 1 }).toEqual({
      status: 200,
      rows: true,
    });
  });
});

const published = new URL("../../../shared/fkgqa/", import.meta.url).pathname;

describe.runIf(existsSync(published))("shards of a published dataset", () => {
  it("name the classes at both ends of properties whose shard has no class", async () => {
    const workspace = await openWorkspace();
    await cp(join(published, "data/network_1.nt"), join(workspace.input, "harbour.nt"));
    await cp(join(published, "queries.json"), join(workspace.input, "queries.json"));
    await cp(join(published, "ontology/network_1.ttl"), join(workspace.input, "harbour-ontology.ttl"));
    await workspace.describe({ only: { dataset: "network_1" } });
    const { folder = "" } = await workspace.build();
    const { shards } = await manifestOf(folder);
    const vertical = shards.filter(
      ({ key, properties = [] }) => key.startsWith("v/") && properties[0]?.objectClasses[0],
    );
    expect(vertical.length).toBeGreaterThan(0);
    service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
    for (const { id } of vertical) {
      const text = await described(`harbour-${id}`, "paths", "^");
      expect(text).not.toMatch(/^\? --|--> \?/m);
      expect(text).toMatch(/^One of \d+ parts of /m);
    }
  });
});
