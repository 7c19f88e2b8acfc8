import { Writer } from "n3";
import oxigraph from "oxigraph";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalRow, canonicalTerm } from "../support/canonical-answer.ts";
import { describedUnits, type Triple, unitText } from "../support/described-data.ts";
import { createEndpointDescriber } from "../support/endpoint-describer.ts";
import { createPlannedComunica, type PlannedComunica, type PlannedSource } from "../support/planned-comunica.ts";
import { enginePolicies } from "../support/simulated-engine/policy.ts";
import { type SimulatedEngines, startSimulatedEngines } from "../support/simulated-engine/start-engines.ts";
import { type ViewQuery, viewQueries } from "../support/view-queries.ts";
import { descriptionQuads, type VoidDescription } from "../../src/registry/descriptions.ts";

const seed = 20_240_601;
const queriesPerEngine = 20;
// Blank nodes of two sources never join, with or without descriptions.
const shapes = [1, 2].map((source) => ({
  seed: seed + source,
  triples: 700,
  classes: 7,
  maxProperties: 15,
  blankNodes: false,
}));
const data = shapes.map((shape): readonly Triple[] => [...describedUnits(shape)].flat());
const policies = enginePolicies(700);
const queries = viewQueries(data.flat(), { seed, count: queriesPerEngine });

let simulated: readonly SimulatedEngines[];
let comunica: PlannedComunica;
let oracle: oxigraph.Store;

beforeAll(async () => {
  simulated = await Promise.all(shapes.map((shape) => startSimulatedEngines(shape, policies)));
  comunica = createPlannedComunica();
  oracle = new oxigraph.Store();
  for (const triples of data) oracle.load(unitText(triples), { format: "application/n-triples" });
});

afterAll(async () => {
  await Promise.all((simulated ?? []).map((engines) => engines.close()));
});

/** What one dataset with the triples of both sources answers. */
function expected({ text }: ViewQuery): readonly string[] {
  const rows = oracle.query(text);
  if (!Array.isArray(rows)) throw new Error("no rows");
  const canonical = rows.map((row) =>
    canonicalRow(
      [...(row as Map<string, oxigraph.Term>)].map(([variable, term]) => [variable, canonicalTerm(term)] as const),
    ),
  );
  return [...new Set(canonical)].toSorted();
}

/** Describes both sources as an engine with this policy shows them. */
async function descriptionsOf(policyName: string): Promise<readonly VoidDescription[]> {
  return Promise.all(
    simulated.map(async ({ engines, clock }) => {
      const engine = engines.find(({ policy }) => policy.name === policyName);
      if (engine === undefined) throw new Error(`no engine ${policyName}`);
      const describer = createEndpointDescriber(clock);
      let alive = engine.policy.diesAfter === undefined;
      try {
        const { description } = await describer.describeToTheEnd(engine.url, {
          async betweenRuns() {
            if (!alive) await engine.revive();
            alive = true;
          },
        });
        return description;
      } finally {
        await describer.close();
      }
    }),
  );
}

const service = "http://www.w3.org/ns/sparql-service-description#";

/** The source whose default graph has the view's dataset: Comunica then takes its counts for the source's own. */
function sourceOf(description: VoidDescription, { name, number }: { name: string; number: number }): PlannedSource {
  const url = `http://source${number}.example/${name}/sparql`;
  const endpoint = simulated[number]?.engines.find(({ policy }) => policy.name === "plain")?.url ?? "";
  const about = `<${url}> a <${service}Service> ; <${service}endpoint> <${url}> ;
    <${service}defaultDataset> [ a <${service}Dataset> ; <${service}defaultGraph> <${url}#dataset> ] .`;
  return { url, endpoint, description: `${about}\n${viewText(description, url)}` };
}

/** The planner's view as if the endpoint had this URL. */
function viewText(description: VoidDescription, url: string): string {
  const quads = [
    ...descriptionQuads(
      { ...description, endpoint: url, dataset: `${url}#dataset` },
      { view: "planner", variant: "extended" },
    ),
  ];
  return new Writer().quadsToString([...quads]);
}

/** Queries whose answers differ from the oracle's. */
async function lossesOf(sources: readonly PlannedSource[]): Promise<readonly string[]> {
  const losses: string[] = [];
  for (const query of queries) {
    const rows = await comunica.select(query.text, sources);
    if (rows.join("\n") !== expected(query).join("\n"))
      losses.push(`${query.shape}: ${query.text}: ${rows.length} rows, not ${expected(query).length}`);
  }
  return losses;
}

describe("Comunica, planning by our descriptions of two sources,", () => {
  it("is asked queries of every shape, most with answers", () => {
    const counts = Map.groupBy(queries, ({ shape }) => shape);
    expect(counts.size).toBe(10);
    for (const [shape, group] of counts) expect(group.length, shape).toBe(queriesPerEngine / 10);
    const answered = queries.filter((query) => expected(query).length > 0);
    process.stdout.write(`seed ${seed}: ${queries.length} queries, ${answered.length} with answers\n`);
    expect(answered.length / queries.length).toBeGreaterThanOrEqual(0.6);
  });

  it("believes them: what they leave out is not asked for", async () => {
    const descriptions = await descriptionsOf("plain");
    const sources = descriptions.map((description, number) => {
      const half = description.propertyPartitions.filter((_, index) => index % 2 === 0);
      return sourceOf({ ...description, propertyPartitions: half }, { name: "half", number });
    });
    expect((await lossesOf(sources)).length).toBeGreaterThan(3);
  });

  it("is spared sources by them", async () => {
    const descriptions = await descriptionsOf("plain");
    const askedWith = async (name: string, known: readonly VoidDescription[]): Promise<number> => {
      const before = comunica.traffic.sourcesAsked;
      expect(await lossesOf(known.map((description, number) => sourceOf(description, { name, number })))).toEqual([]);
      return comunica.traffic.sourcesAsked - before;
    };
    const nothing = descriptions.map(
      (description): VoidDescription => ({
        ...withoutCounts(description),
        classPartitions: [],
        classesComplete: false,
        propertyPartitions: [],
        propertiesComplete: false,
      }),
    );
    const [uninformed, informed] = [await askedWith("nothing", nothing), await askedWith("all", descriptions)];
    process.stdout.write(`${uninformed} sources asked without descriptions, ${informed} with them\n`);
    expect(informed).toBeLessThan(uninformed);
  });

  // Engines that show all of their data lead to the same views, which are judged once.
  const judged = new Map<string, Promise<readonly string[]>>();

  it.each(policies.map(({ name }) => name))("loses nothing with those of the engine %s", async (name) => {
    const descriptions = await descriptionsOf(name);
    const views = descriptions.map((description) => viewText(description, "http://source.example/sparql")).join();
    const losses =
      judged.get(views) ?? lossesOf(descriptions.map((description, number) => sourceOf(description, { name, number })));
    judged.set(views, losses);
    expect(await losses).toEqual([]);
  });

  it("gets different views from different engines", () => {
    process.stdout.write(`${judged.size} different pairs of views\n`);
    expect(judged.size).toBeGreaterThan(2);
    expect(judged.size).toBeLessThan(policies.length);
  });
});

function withoutCounts({
  triples: _triples,
  distinctSubjects: _subjects,
  distinctObjects: _objects,
  classes: _classes,
  properties: _properties,
  ...rest
}: VoidDescription): VoidDescription {
  return rest;
}
