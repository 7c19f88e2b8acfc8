import oxigraph from "oxigraph";
import { createRandom } from "./random.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import type { QueryPlan } from "../../src/plan/query-plan.ts";
import { answerDifference, storeAnswer, toAnswer, type CanonicalAnswer } from "./canonical-answer.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { exactSelection } from "./read-selection.ts";
import { dataOf, expectedOf, queryOf, unlikeExpected, type Expected, type FederatedCase } from "./federated-case.ts";
import { createMergedFederation, type MergedFederation } from "./merged-federation.ts";
import { knownSources } from "./member-facts.ts";
import { reduceCase } from "./query-generator-shrink.ts";
import { printQuery, type GeneratedQuery } from "./query-generator-syntax.ts";

/** What one case came to. */
export interface Outcome {
  readonly query: GeneratedQuery;
  readonly text: string;
  readonly expected: Expected;
  /** What is wrong; undefined when nothing is. */
  readonly difference: string | undefined;
  readonly requests: number;
  readonly plan: QueryPlan | undefined;
}

/** Runs cases over members in this process, planned by the real planner. */
export class FederatedRun {
  readonly #federation: MergedFederation = createMergedFederation([]);

  /** @param selects whether patterns are asked at those members only that an exact selection names */
  async outcome(value: FederatedCase, selects = true): Promise<Outcome> {
    const federation = this.#federation;
    federation.setData(dataOf(value));
    const urls = federation.members.map(({ url }) => url);
    const query = queryOf(value);
    const text = printQuery(query, { keyword: "SERVICE", endpoints: urls });
    const expected = expectedOf(value, urls);
    let plan: QueryPlan | undefined;
    try {
      plan = this.#plan(value, text, selects && value.told === "descriptions");
      const chosen = selects && value.told === "data" ? withSelection(plan, query, value) : plan;
      const answer = await this.#answer(chosen, value, expected.inOrder);
      const difference = unlikeExpected(expected, answer, answerDifference);
      return { query, text, expected, difference, plan: chosen, requests: federation.client.requests.length };
    } catch (error) {
      const difference = `failed: ${error instanceof Error ? error.stack : String(error)}`;
      return { query, text, expected, difference, plan, requests: federation.client.requests.length };
    }
  }

  #plan(value: FederatedCase, text: string, isDescribed: boolean): QueryPlan {
    const { members } = this.#federation;
    const { mode, knowledge, seed } = value;
    const data = dataOf(value);
    const known = members.map((endpoint, index) => ({
      endpoint,
      data: data[index] ?? "",
      knowledge: knowledge[index] ?? "none",
    }));
    const ids = members.map(({ id = "" }) => id);
    const entries = members.map(({ id = "", url }) => catalogEntry(id, { url }));
    const publicUrl = "http://fedway.example";
    const federations = [{ id: "all", title: "all", members: ids, memberKeywords: [] }];
    const catalog = createCatalog(entries, [], { publicUrl, federations });
    const planner = createPlanner({
      catalog,
      egress: "catalog",
      publicUrl,
      // Each case has members of its own, so that no plan comes again.
      cacheEntries: 1,
      sources: isDescribed ? knownSources(known, seed) : undefined,
    });
    const request = { text, strict: false, defaultGraphs: [], namedGraphs: [] };
    return planner.plan(mode === "service" ? request : { ...request, federationId: "all" }).plan;
  }

  async #answer(plan: QueryPlan, value: FederatedCase, inOrder: boolean): Promise<CanonicalAnswer> {
    const { members } = this.#federation;
    if (plan.kind === "rejected") throw plan.reason;
    if (plan.kind === "federated") return toAnswer(await this.#federation.execute(plan), inOrder);
    const member = members.findIndex(({ url }) => url === plan.endpoint.url);
    const store = new oxigraph.Store();
    store.load(dataOf(value)[member] ?? "", { format: "nt" });
    return storeAnswer(store, plan.query, inOrder);
  }

  /** The smallest case found that goes wrong in the same way, as text. */
  async shrunk(value: FederatedCase, found: string, selects = true): Promise<string> {
    const sortOf = (text: string): string => (text.startsWith("failed") ? text.slice(0, 50) : "wrong");
    const withParts = (simpler: Pick<FederatedCase, "query"> & { data: object }): FederatedCase => ({
      ...value,
      query: simpler.query,
      data: { ...value.data, ...simpler.data },
    });
    const reduced = await reduceCase(value, async (simpler) => {
      const { difference } = await this.outcome(withParts(simpler), selects).catch(() => ({ difference: undefined }));
      return difference !== undefined && sortOf(difference) === sortOf(found);
    });
    const last = withParts(reduced);
    const { text, difference, plan } = await this.outcome(last, selects);
    const facts = last.data.facts.map(
      ({ endpoints, subject, predicate, object }) => `${endpoints.join(",")} ${subject} ${predicate} ${object}`,
    );
    const over = plan?.kind === "federated" ? plan.over : undefined;
    return [
      `${value.mode}, ${value.data.layout}, ${value.knowledge.join(" ")}, seed ${value.seed}`,
      text,
      ...facts,
      `${plan?.kind} ${JSON.stringify({ members: over?.members.map(({ id }) => id), ...over?.selection })}`,
      difference,
    ].join("\n");
  }
}

/** Outside of SERVICE, members that are not needed are left out; those of which nothing certain is known are not. */
function withSelection(plan: QueryPlan, query: GeneratedQuery, value: FederatedCase): QueryPlan {
  if (plan.kind !== "federated" || !plan.over) return plan;
  const known = dataOf(value).map((data, member) => ({ data, isKnown: value.knowledge[member] === "exact" }));
  const { kept, selection } = exactSelection(query, known, createRandom(value.seed));
  const members = kept.flatMap((member) => plan.over?.members[member] ?? []);
  const urls = new Set(members.map(({ url }) => url));
  const needed = plan.members.filter(({ endpoint, clauses }) => clauses > 0 || urls.has(endpoint.url));
  return { ...plan, over: { ...plan.over, members, selection }, members: needed };
}
