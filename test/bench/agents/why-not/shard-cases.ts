import { join } from "node:path";
import type { Random } from "../../../support/random.ts";
import { partsOf, type QueryPart } from "../../../../src/diagnosis/why/query-parts.ts";
import { type Query, parseQuery } from "../../../../src/sparql/query.ts";
import { publishedQuestions } from "../../../support/published-questions.ts";
import { buildPublishedShards, hasPublishedData, publishedDatasets } from "../../../support/published-shards.ts";
import { startService, type RunningService } from "../../../support/running-service.ts";
import { newFolder } from "../../../support/scratch-folder.ts";
import type { PlantedCase } from "./library-cases.ts";

/** The nine federations of shards, hosted by one service. */
export interface ShardFederations {
  readonly service: RunningService;
  /** Ids of the members of a dataset's federation, with the properties and classes of each. */
  readonly members: ReadonlyMap<string, readonly { readonly id: string; readonly terms: ReadonlySet<string> }[]>;
  close(): Promise<void>;
}

/** Undefined where the data are not there. */
export async function openShardFederations(): Promise<ShardFederations | undefined> {
  if (!hasPublishedData) {
    process.stdout.write("the nine datasets are not at ../shared/fkgqa: all cases are over generated data\n");
    return undefined;
  }
  const root = newFolder();
  for (const dataset of publishedDatasets) {
    await buildPublishedShards(dataset, { mode: "guaranteed", output: join(root, dataset) });
  }
  const folders = publishedDatasets.map((dataset) => join(root, dataset)).join(",");
  const service = await startService({}, { FEDWAY_SHARDS: folders, FEDWAY_HOSTED_TOTAL_MB: "4096" });
  return { service, members: await membersOf(service), close: () => service.close() };
}

const termsQuery =
  "SELECT DISTINCT ?t { { SELECT DISTINCT ?t { ?s ?t ?o } } UNION { SELECT DISTINCT ?t { ?s a ?t } } }";

async function membersOf({ app }: RunningService): Promise<ShardFederations["members"]> {
  const members = new Map<string, { id: string; terms: ReadonlySet<string> }[]>();
  for (const federation of app.catalog.federations) {
    const own: { id: string; terms: ReadonlySet<string> }[] = [];
    for (const { id } of app.catalog.membersOf(federation)) {
      const { rows } = await app.queries.table({
        text: termsQuery,
        endpointId: id,
        defaultGraphs: [],
        namedGraphs: [],
        strict: false,
        partial: false,
        signal: new AbortController().signal,
        maxRows: 10_000,
      });
      own.push({ id, terms: new Set(rows.flatMap(([cell]) => cell ?? [])) });
    }
    members.set(federation.id, own);
  }
  return members;
}

/** A change of a query's text at one of its parts; undefined where it fits none. */
type Planter = (query: Query, random: Random, terms: readonly string[]) => Planted | undefined;

interface Planted {
  readonly text: string;
  /** Where the planted part begins in the changed query, in tokens. */
  readonly part: (parts: readonly QueryPart[]) => QueryPart | undefined;
  /** The class or property that stood there; absent for a filter. */
  readonly term?: string;
}

/** Planted mistakes in the published queries that have rows and no aggregates, drawn in turn. */
export function shardCases({ members }: ShardFederations, random: Random): readonly PlantedCase[] {
  const published = publishedQuestions().filter(
    ({ sparql, rows, unstable, rewritten }, at, all) =>
      rows > 0 &&
      !unstable &&
      !rewritten &&
      !/\b(?:count|max|min|avg|sum)\s*\(|limit/i.test(sparql) &&
      all.findIndex((other) => other.sparql === sparql) === at,
  );
  const kinds = Object.entries(planters);
  const cases = new Map<string, PlantedCase>();
  for (let at = 0; at < 1_500; at++) {
    const [cause, plant] = kinds[at % kinds.length] ?? [];
    const { dataset, sparql } = random.pick(published);
    const own = members.get(dataset) ?? [];
    const terms = [...new Set(own.flatMap((member) => [...member.terms]))].toSorted();
    const planted = plant?.(parseQuery(sparql), random, terms);
    if (cause === undefined || planted === undefined) continue;
    const part = planted.part(partsOf(parseQuery(planted.text)));
    if (part === undefined) continue;
    const { term } = planted;
    cases.set(planted.text, {
      cause: `shards: ${cause}`,
      broken: planted.text,
      blamed: [part.text.replace(/ \.$/, "")],
      endpoints: term === undefined ? [] : own.filter((member) => member.terms.has(`<${term}>`)).map(({ id }) => id),
      federation: dataset,
      gold: { query: sparql, over: "place" },
    });
  }
  return [...cases.values()];
}

const typeIri = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const iriOf = (part: QueryPart, place: "predicate" | "object"): string | undefined => {
  const term = part.triple?.[place].term;
  return term?.kind === "iri" ? term.iri : undefined;
};
const isTyped = (part: QueryPart): boolean => iriOf(part, "predicate") === typeIri;

/** Replaces the predicate or class of a drawn triple pattern. */
function replacing(
  fits: (part: QueryPart) => boolean,
  place: "predicate" | "object",
  instead: (iri: string, random: Random, terms: readonly string[]) => string | undefined,
): Planter {
  return (query, random, terms) => {
    const fitting = partsOf(query).filter((part) => part.triple !== undefined && fits(part));
    if (fitting.length === 0) return undefined;
    const part = random.pick(fitting);
    const iri = iriOf(part, place);
    const range = part.triple?.[place].range;
    const replacement = iri === undefined ? undefined : instead(iri, random, terms);
    if (iri === undefined || range === undefined || replacement === undefined) return undefined;
    const text = query.cut([{ range, replacement: `<${replacement}>` }]);
    return {
      text,
      term: iri,
      part: (parts) => parts.find((other) => other.triple?.[place].range?.from === range.from),
    };
  };
}

const local = (iri: string): string => iri.slice(iri.lastIndexOf("#") + 1);

const planters: Readonly<Record<string, Planter>> = {
  "property unknown": replacing(
    (part) => !isTyped(part),
    "predicate",
    (iri) => `${iri.slice(0, -local(iri).length)}${local(iri).slice(0, -2)}${local(iri).at(-1)}`,
  ),
  "property of another class": replacing(
    (part) => !isTyped(part) && part.triple?.object.term?.kind === "variable",
    "predicate",
    (iri, random, terms) => {
      const others = terms.filter(
        (term) => term.includes("#") && !term.includes("rdf-syntax") && !term.startsWith(`<${iri.split("#")[0]}`),
      );
      return others.length === 0 ? undefined : random.pick(others).slice(1, -1);
    },
  ),
  "class of the same data": replacing(isTyped, "object", (iri, random, terms) => {
    const others = terms.filter((term) => !term.includes("#") && term !== `<${iri}>`);
    return others.length === 0 ? undefined : random.pick(others).slice(1, -1);
  }),
  direction: (query, random) => {
    const links = partsOf(query).filter((part) => iriOf(part, "predicate")?.includes("#ref-"));
    const [part] = links.length === 0 ? [] : [random.pick(links)];
    const { subject, predicate, object } = part?.triple ?? {};
    if (!subject?.range || !object?.range || !predicate) return undefined;
    const text = query.cut([
      { range: subject.range, replacement: object.text },
      { range: object.range, replacement: subject.text },
    ]);
    const { from } = subject.range;
    const term = part && iriOf(part, "predicate");
    return {
      text,
      ...(term && { term }),
      part: (parts) => parts.find((other) => other.triple?.subject.range?.from === from),
    };
  },
  "filter too strict": (query) => {
    const { where } = query.outline;
    const name = /\?\w+/.exec(query.textOf(query.outline.head))?.[0];
    if (!where || !name || where.elements.some(({ kind }) => kind === "union" || kind === "minus")) return undefined;
    const end = { from: where.to - 1, to: where.to };
    const text = query.cut([{ range: end, replacement: `FILTER(STRLEN(STR(${name})) > 1000) }` }]);
    return { text, part: (parts) => parts.findLast(({ kind }) => kind === "filter") };
  },
  "filter value": (query, random) => {
    const strings = partsOf(query).flatMap((part) =>
      part.kind === "filter" && /^FILTER\s*\(\s*\?\w+\s*=\s*'[^']{3,}'\s*\)$/i.test(part.text) ? [part] : [],
    );
    const [filter] = strings;
    const at = filter && query.tokens.findIndex(({ kind }, index) => kind === "string" && index >= filter.range.from);
    if (filter === undefined || at === undefined) return undefined;
    const range = { from: at, to: at + 1 };
    const text = query.textOf(range);
    const change = random.pick([
      (value: string) => value.toLowerCase(),
      (value: string) => value.toUpperCase(),
      (value: string) => value.replace(/'$/, " '"),
      (value: string) => value.slice(0, 2) + value.slice(3),
      (value: string) => `${value}@en`,
    ]);
    const planted = query.cut([{ range, replacement: change(text) }]);
    return {
      text: planted,
      part: (parts) => parts.find((other) => other.kind === "filter" && other.range.from === filter.range.from),
    };
  },
};
