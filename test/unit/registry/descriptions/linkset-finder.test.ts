import type { Asker } from "../../../../src/outbound/whole-answer.ts";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import {
  createLinksetFinder,
  type FoundLinksets,
  withLinksets,
} from "../../../../src/registry/descriptions/linkset-finder.ts";
import type { PropertyPartition } from "../../../../src/registry/descriptions/void-description.ts";
import { withDistinctFault } from "../../../support/distinct-faults.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { type AskerScript, type Interference, scriptedAsker } from "../../../support/scripted-asker.ts";
import type { VoidDescription } from "../../../../src/registry/descriptions.ts";

const urls = { a: "http://a.example/sparql", b: "http://b.example/sparql" } as const;
const prefixes =
  "@prefix a: <http://a.example/> . @prefix b: <http://b.example/> . @prefix x: <http://x.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .";
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

const places = `${prefixes} ${range(300)
  .map((n) => `b:place${n} a b:Place ; b:name "${n}" .`)
  .join("\n")}`;

const property = (iri: string): PropertyPartition => ({
  property: iri,
  status: "exact",
  record: 0,
  objectClasses: [],
  datatypes: [],
  objectsComplete: false,
});

const { graphs: _left, ...ofDefaultGraph } = sampleDescription;

const described = (endpoint: string, properties: readonly string[], classes: readonly string[]): VoidDescription => ({
  ...ofDefaultGraph,
  endpoint,
  dataset: `${endpoint}#data`,
  namespaces: [],
  propertyPartitions: properties.map(property),
  classPartitions: classes.map((iri) => ({
    class: iri,
    status: "exact",
    record: 0,
    properties: [],
    propertiesComplete: false,
  })),
});

const find = async (people: string, script: AskerScript = {}, maxRequests?: number): Promise<FoundLinksets> => {
  const asker = scriptedAsker({ data: { [urls.a]: prefixes + people, [urls.b]: places }, ...script });
  const names = ["http://a.example/name", "http://a.example/home", "http://www.w3.org/2002/07/owl#sameAs"];
  return createLinksetFinder({ asker, clock: { now: () => 0 } }).find(
    { endpoint: { id: "a", url: urls.a }, description: described(urls.a, names, ["http://a.example/Person"]) },
    {
      endpoint: { id: "b", url: urls.b },
      description: described(urls.b, ["http://b.example/name"], ["http://b.example/Place"]),
    },
    { signal: new AbortController().signal, ...(maxRequests !== undefined && { maxRequests }) },
  );
};

const home = { property: "http://a.example/home", targetEndpoint: "b", targetDataset: `${urls.b}#data` };
const shouldLink = async (
  people: string,
  expected: object | undefined,
  script: AskerScript = {},
): Promise<FoundLinksets> => {
  const found = await find(people, script);
  expect(found.linksets).toEqual(expected === undefined ? [] : [expect.objectContaining({ ...home, ...expected })]);
  for (const { record } of found.linksets) expect(found.records[record]).toBeDefined();
  return found;
};
const counted = (value: number, status: "exact" | "lowerBound") => ({
  status,
  triples: { value, status, record: expect.any(Number) },
});

const people = (count: number, target: (n: number) => string): string =>
  range(count)
    .map((n) => `a:p${n} a a:Person ; a:name "${n}" ; a:home ${target(n)} .`)
    .join("\n");

const place = (n: number): string => `b:place${n}`;
const missing = (n: number): string => `b:missing${n}`;

const failing =
  (pattern: RegExp): Interference =>
  ({ query }) =>
    pattern.test(query) ? new FedwayError("ENDPOINT_REJECTED_QUERY", "no", { upstreamStatus: 400 }) : undefined;

describe("links between endpoints", () => {
  it.each([
    ["few: all of them are counted, in two ways", people(120, place), counted(120, "exact")],
    [
      "only those whose object is there count",
      people(60, (n) => (n < 25 ? place(n) : missing(n))),
      counted(25, "exact"),
    ],
    ["many: a lower bound", people(250, place), counted(201, "lowerBound")],
    ["objects in the same namespace that are not there are no links", people(10, missing), undefined],
  ])("%s", async (_name, data, expected) => {
    await shouldLink(data, expected);
  });
  it("an exact count has looked at every object, also at those in namespaces that no sample has shown", async () => {
    const data = { [urls.b]: `${places} x:thing1 a x:Thing . x:thing2 a x:Thing .` };
    const mixed = people(10, (n) => (n < 4 ? `x:thing${n}` : place(n)));
    await shouldLink(mixed, counted(8, "exact"), { data: { [urls.a]: prefixes + mixed, ...data } });
  });
  it("an object that cannot be asked for leaves a lower bound", async () => {
    const data = `${prefixes} ${people(9, place)} a:p9 a:home <nodeID://b1> .`;
    await shouldLink("", counted(9, "lowerBound"), { data: { [urls.a]: data, [urls.b]: places } });
  });
  it("objects only in other namespaces are not asked for, which is told once", async () => {
    const things = people(10, (n) => `x:thing${n}`);
    const { records, unknown } = await shouldLink(things, undefined);
    expect(records.filter(({ query }) => query.includes("VALUES"))).toEqual([]);
    expect(unknown).toEqual([{ what: "links to b by objects in namespaces not seen there", why: "partial" }]);
  });
  it("properties made for linking come first", async () => {
    const { linksets } = await find(`a:p1 owl:sameAs b:place1 ; a:home b:place2 .`);
    expect(linksets.map((one) => one.property)).toEqual(["http://www.w3.org/2002/07/owl#sameAs", home.property]);
  });
});

it.each([
  ["are counted once", undefined, "exact"],
  ["are at least so many where DISTINCT is ignored", "ignored", "lowerBound"],
] as const)("links between datasets in named graphs %s", async (_name, fault, status) => {
  const inGraph = (turtle: string): string =>
    `${prefixes} <urn:g1> { ${turtle.replace(prefixes, "")} } <urn:g2> { ${turtle.replace(prefixes, "")} }`;
  const data = { [urls.a]: inGraph(people(20, place)), [urls.b]: inGraph(places) };
  const asker = scriptedAsker({ data });
  const named = { namedGraphs: { list: [], complete: false } };
  const faulty: Asker = {
    ...asker,
    ask: async (asking) => asker.ask({ ...asking, query: withDistinctFault(asking.query, fault) ?? "" }),
  };
  const { linksets } = await createLinksetFinder({ asker: faulty, clock: { now: () => 0 } }).find(
    { endpoint: { id: "a", url: urls.a }, description: { ...described(urls.a, [home.property], []), ...named } },
    { endpoint: { id: "b", url: urls.b }, description: { ...described(urls.b, [], []), ...named } },
    { signal: new AbortController().signal },
  );
  expect(linksets).toMatchObject([{ ...home, ...counted(20, status) }]);
});

describe("what an endpoint cannot do", () => {
  const ten = people(10, place);
  it("no VALUES: single questions show that there are links", async () => {
    const { linksets } = await shouldLink(ten, { status: "exists" }, { interfere: failing(/VALUES/u) });
    expect(linksets[0]).not.toHaveProperty("triples");
  });
  it("no COUNT: a lower bound", async () => {
    await shouldLink(ten, counted(10, "lowerBound"), { interfere: failing(/COUNT/u) });
  });
  it("a count that disagrees with the list: a lower bound", async () => {
    const interfere: Interference = ({ query, endpoint }) =>
      /COUNT/u.test(query) && endpoint.url === urls.b ? new FedwayError("ENDPOINT_TIMEOUT", "slow") : undefined;
    const { unknown } = await shouldLink(ten, counted(10, "lowerBound"), { interfere });
    expect(unknown).toMatchObject([{ what: `links by <${home.property}> to b`, why: "timeout" }]);
  });
  it("nothing at all: unknown, not zero", async () => {
    const { unknown, records } = await shouldLink(ten, undefined, { data: { [urls.b]: places } });
    expect(unknown.map(({ why }) => why)).toEqual(["failed", "failed", "failed"]);
    expect(records.filter(({ outcome }) => outcome === "failed")).toHaveLength(3);
  });
  it("the budget ends the search and says so", async () => {
    const { unknown, records } = await find(ten, {}, 2);
    expect(records).toHaveLength(2);
    expect(unknown).toEqual([{ what: "links to b", why: "budget" }]);
  });
});

describe("links in a description", () => {
  it("replace older ones to the same endpoint and bring their records along", () => {
    const record = { rung: 6, query: "q", durationMs: 1, at: "2026-01-01T00:00:00Z", outcome: "ok" } as const;
    const found: FoundLinksets = {
      linksets: [
        {
          ...home,
          targetEndpoint: "wikidata",
          ...counted(3, "exact"),
          record: 0,
          triples: { value: 3, status: "exact", record: 0 },
        },
      ],
      records: [record],
      unknown: [{ what: "x", why: "failed", record: 0 }],
    };
    const { linksets, records, unknown } = withLinksets(sampleDescription, "wikidata", found);
    expect(linksets.filter(({ targetEndpoint }) => targetEndpoint !== undefined)).toEqual([
      {
        ...home,
        targetEndpoint: "wikidata",
        status: "exact",
        record: 4,
        triples: { value: 3, status: "exact", record: 4 },
      },
    ]);
    expect(linksets).toHaveLength(2);
    expect(records[4]).toEqual(record);
    expect(unknown.at(-1)).toEqual({ what: "x", why: "failed", record: 4 });
  });
  it("found again and again do not make the description grow", () => {
    const record = { rung: 6, query: "q", durationMs: 1, at: "2026-01-01T00:00:00Z", outcome: "ok" } as const;
    const found: FoundLinksets = {
      linksets: [{ ...home, targetEndpoint: "wikidata", status: "exact", record: 1 }],
      records: [record, { ...record, query: "counts" }, record],
      unknown: [{ what: "links to wikidata", why: "budget" }],
    };
    const once = withLinksets(sampleDescription, "wikidata", found);
    const often = [1, 2, 3].reduce((description) => withLinksets(description, "wikidata", found), once);
    expect(often.unknown).toEqual(once.unknown);
    // The request behind the older link is gone with it.
    expect(often.records).toHaveLength(once.records.length);
    expect(often.records[often.linksets.at(-1)?.record ?? -1]?.query).toBe("counts");
    expect(often.propertyPartitions).toEqual(sampleDescription.propertyPartitions);
  });
});
