import { Store, namedNode } from "oxigraph";
import { afterAll, describe, expect, it } from "vitest";
import { inFull, planFor, twoShards } from "./plan-cases.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";
import { colocatedShapes, directShapes, endpointShapes, federatedShapes, narrowedShapes } from "./meaning-shapes.ts";

const a = "http://a.example/sparql";
const b = "http://b.example/sparql";
const seeds = Array.from({ length: 12 }, (_, i) => 20_240 + i);

/** Small multiplicative generator (Lehmer), so that a seed names the data. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed * 48_271;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function randomTriples(random: (below: number) => number): string {
  const node = (): string => `<urn:d:n${random(5)}>`;
  const lines = Array.from({ length: 9 }, () => `${node()} <urn:d:${random(2) === 0 ? "p" : "q"}> ${node()} .`);
  const numbers = Array.from(
    { length: 5 },
    () => `${node()} <urn:d:r> "${random(7)}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
  );
  return [...lines, ...numbers].join("\n");
}

interface Data {
  readonly a: string;
  readonly b: string;
}

function randomData(seed: number): Data {
  const random = randomFrom(seed);
  return { a: randomTriples(random), b: randomTriples(random) };
}

const format = "application/n-triples";

/** Each endpoint's data in a named graph; `home` is the data of the default graph. */
function storeOf(data: Data, home = ""): Store {
  const store = new Store();
  store.load(home, { format });
  store.load(data.a, { format, to_graph_name: namedNode(a) });
  store.load(data.b, { format, to_graph_name: namedNode(b) });
  return store;
}

function storeOfOne(data: string): Store {
  const store = new Store();
  store.load(data, { format });
  return store;
}

/** What a seed stands for, loaded once: queries change nothing. */
const worlds = seeds.map((seed) => {
  const data = randomData(seed);
  return { endpoint: storeOfOne(data.a), both: storeOf(data), atHome: storeOf(data, data.a) };
});

const graphsForServices = (text: string): string => text.replaceAll(/SERVICE\s+(?:SILENT\s+)?/g, "GRAPH ");

/** The answer as a sorted list of solutions (a multiset), a boolean, or sorted triples. */
function answer(store: Store, query: string): readonly string[] {
  const result: unknown = store.query(query);
  if (typeof result === "boolean") return [String(result)];
  if (!Array.isArray(result)) throw new TypeError("no list of solutions");
  return result.map((row) => (row instanceof Map ? solution(row) : String(row))).toSorted();
}

const solution = (row: Map<string, unknown>): string =>
  [...row]
    .map(([name, term]) => `${name}=${String(term)}`)
    .toSorted()
    .join(" ");

const tally = { cases: 0, filled: 0 };

function compare(oracle: readonly string[], planned: readonly string[]): void {
  expect(planned).toEqual(oracle);
  tally.cases++;
  if (oracle.length > 0 && oracle[0] !== "false") tally.filled++;
}

describe("a direct plan gives the answer of the query with its wrappers", () => {
  it("covers at least 40 shapes", () => expect(directShapes.length).toBeGreaterThanOrEqual(40));
  it.each(directShapes)("%s", (text) => {
    const plan = planFor(text);
    expect(plan.kind).toBe("direct");
    if (plan.kind !== "direct") return;
    expect(plan.query).not.toMatch(/SERVICE/);
    for (const { both, endpoint } of worlds)
      compare(answer(both, graphsForServices(inFull(text))), answer(endpoint, plan.query));
  });
});

describe("a federated plan keeps the meaning when clauses are merged, taken out or expanded", () => {
  it.each(federatedShapes)("%s", (text) => {
    const plan = planFor(text);
    expect(plan.kind).toBe("federated");
    if (plan.kind !== "federated") return;
    for (const { both } of worlds)
      compare(answer(both, graphsForServices(inFull(text))), answer(both, graphsForServices(plan.query)));
  });
});

/** The query with what its endpoints are asked for in the place of its clauses. */
function asAsked({ query, skeleton, clauses }: FederatedPlan): string {
  const inExists = /EXISTS/u.test(query);
  const asked = ({ endpoint, variables, pattern }: FederatedPlan["clauses"][number]): string => {
    const names = variables.map(({ name }) => `?${name}`).join(" ");
    const body = `GRAPH <${endpoint.url}> ${pattern}`;
    return inExists ? `{ ${body} }` : `{ SELECT ${names === "" ? "(1 AS ?one)" : names} WHERE { ${body} } }`;
  };
  const places = Map.groupBy(clauses, ({ iri, place = iri }) => place);
  return [...places].reduce((text, [iri, own]) => {
    const place = new RegExp(`SERVICE\\s+(?:SILENT\\s+)?<${iri}> \\{[^}]*\\}`, "u");
    return text.replace(place, () => own.map(asked).join(" UNION "));
  }, skeleton);
}

describe("what endpoints are asked for is enough", () => {
  it.each([...federatedShapes, ...narrowedShapes])("%s", (text) => {
    const plan = planFor(text);
    expect(plan.kind).toBe("federated");
    if (plan.kind !== "federated") return;
    for (const { both } of worlds) compare(answer(both, graphsForServices(inFull(text))), answer(both, asAsked(plan)));
  });
});

/** The triples of two endpoints, dealt anew so that each subject is at one of them. */
function dealtBySubject({ a: one, b: other }: Data): Data {
  const triples = [...new Set(`${one}\n${other}`.split("\n"))];
  const isFirst = (triple: string) => /^<urn:d:n[02]>/u.test(triple);
  return { a: triples.filter(isFirst).join("\n"), b: triples.filter((triple) => !isFirst(triple)).join("\n") };
}

describe("clauses about one subject are joined where no subject is at two endpoints", () => {
  const shards = seeds.map((seed) => storeOf(dealtBySubject(randomData(seed))));
  it.each(colocatedShapes)("%s: %d clauses", (text, left) => {
    const clausesOf = (prune: boolean) => {
      const plan = planFor(text, { sources: twoShards, prune });
      expect(plan.kind).toBe("federated");
      return plan.kind === "federated" ? plan : undefined;
    };
    const plan = clausesOf(true);
    const written = clausesOf(false);
    const isJoined = plan?.notes.some(({ code }) => code === "CLAUSES_COLOCATED");
    expect({ left: plan?.query.match(/SERVICE/gu)?.length, isJoined }).toEqual({
      left,
      isJoined: left < (written?.query.match(/SERVICE/gu)?.length ?? 0),
    });
    for (const both of shards)
      compare(answer(both, graphsForServices(inFull(text))), answer(both, graphsForServices(plan?.query ?? "")));
  });
  it("leaves alone what is sent along with a failure's solution, and endpoints of which nothing is known", () => {
    const silent =
      "SELECT * { SERVICE SILENT <a> { ?s <urn:p> ?o } SERVICE <b> { ?o <urn:q> ?x } SERVICE SILENT <a> { ?s <urn:r> ?n } }";
    expect(planFor(silent, { sources: twoShards })).toEqual(planFor(silent));
    const unknown = colocatedShapes[0]?.[0].replaceAll("<b>", "<wiki>") ?? "";
    expect(planFor(unknown, { sources: twoShards })).toMatchObject({ notes: [] });
  });
});

describe("on an endpoint's route patterns outside belong to the endpoint", () => {
  it.each(endpointShapes)("%s", (text) => {
    const plan = planFor(text, { endpointId: "a" });
    expect(plan.kind).not.toBe("rejected");
    if (plan.kind === "rejected") return;
    for (const { both, atHome } of worlds) {
      const store = plan.kind === "direct" ? atHome : both;
      compare(answer(atHome, graphsForServices(inFull(text))), answer(store, graphsForServices(plan.query)));
    }
  });
});

afterAll(() => {
  console.info(`meaning: ${tally.filled} of ${tally.cases} answers were not empty, seeds ${seeds[0]}-${seeds.at(-1)}`);
  expect(tally.cases).toBe(
    (directShapes.length +
      2 * federatedShapes.length +
      narrowedShapes.length +
      colocatedShapes.length +
      endpointShapes.length) *
      seeds.length,
  );
  expect(tally.filled / tally.cases).toBeGreaterThan(0.6);
});
