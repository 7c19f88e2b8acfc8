import { createPlanner, type PlanRequest } from "../../src/plan/create-planner.ts";
import type { QueryPlan } from "../../src/plan/query-plan.ts";
import { clauseEstimates, emptyClauses } from "../../src/selection/clause-facts.ts";
import { FactTable } from "../../src/selection/fact-table.ts";
import { selectSources } from "../../src/selection/select-sources.ts";
import { factsOf } from "../../src/selection/source-facts.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { describedModels } from "./described-models.ts";
import type { Triple } from "./described-data.ts";
import { truthfulDescription } from "./truthful-description.ts";
import { truthOf } from "./void-truth.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const x = (name: string): string => `<http://x.example/${name}>`;

/** Two members that are described: people and their names, books and their authors. Nothing is known of a third, `other`. */
const data: Readonly<Record<string, readonly Triple[]>> = {
  people: [
    [x("ann"), type, x("Person")],
    [x("ann"), x("name"), '"Ann"'],
    [x("bob"), x("name"), '"Bob"'],
  ],
  books: [
    [x("b1"), type, x("Book")],
    [x("b1"), x("author"), x("ann")],
    [x("b2"), x("author"), x("bob")],
  ],
};
const seenAt = "2026-01-01T00:00:00.000Z";
const dayMs = 86_400_000;

/** What is known when a query is planned. */
export interface KnownMembers extends Partial<Pick<PlanRequest, "prune" | "federationId" | "endpointId">> {
  readonly descriptions?: Readonly<Record<string, VoidDescription>>;
  /** Hours since the descriptions were begun; they count for a day. */
  readonly hours?: number;
  readonly members?: readonly string[];
  /** False: nobody knows where endpoints cut their answers. */
  readonly cutsKnown?: boolean;
  /** What the descriptions say of terms is known, too. */
  readonly terms?: boolean;
  /** The shard set that all described members are of. */
  readonly partition?: string;
}

/** The truth about a member, with changes. */
export function described(id: string, change: Partial<VoidDescription> = {}): VoidDescription {
  const endpoint = `http://${id}.example/sparql`;
  return { ...truthfulDescription(truthOf(data[id] ?? [])), endpoint, startedAt: seenAt, ...change };
}

/** Plans a text with the prefix `:` of the data; the federation `all` has all members. */
export function planWithFacts(text: string, known: KnownMembers = {}): QueryPlan {
  const {
    descriptions,
    hours = 1,
    members = ["people", "books", "other"],
    partition,
    cutsKnown,
    terms,
    ...request
  } = known;
  const all = Object.entries(descriptions ?? { people: described("people"), books: described("books") });
  const { models, finder: index } = describedModels({ descriptions: all });
  const table = new FactTable({ models, now: () => Date.parse(seenAt) + hours * 3_600_000 });
  for (const [id] of all) {
    const facts = factsOf(models.get(id)?.described, dayMs);
    table.set(id, facts && { ...facts, partition });
  }
  const planner = createPlanner({
    ...(terms && { terms: index }),
    catalog: createCatalog(
      members.map((id) => catalogEntry(id)),
      [],
      {
        publicUrl: "http://fedway.example",
        federations: [{ id: "all", title: "all", members, memberKeywords: [] }],
      },
    ),
    egress: "catalog",
    publicUrl: "http://fedway.example",
    ...(cutsKnown === false && { capabilities: { version: 1, view: () => undefined } }),
    sources: {
      version: 1,
      select: (plan, how) => selectSources(plan, table, how),
      emptyClauses: (clauses) => emptyClauses(clauses, table),
      clauseEstimates: (clauses) => clauseEstimates(clauses, table),
      facts: ({ id, url }) => table.get(id, url),
      subjectPartition: ({ id, url }) => table.get(id, url)?.partition,
    },
  });
  const query = `PREFIX : <http://x.example/> ${text}`;
  return planner.plan({ text: query, strict: false, defaultGraphs: [], namedGraphs: [], ...request }).plan;
}
