import { expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import type { Catalog, CatalogEntry, Federation } from "../../../src/registry/catalog.ts";

type PlannerOptions = Parameters<typeof createPlanner>[0];

export const toEntry = catalogEntry;

/** A catalogue in memory that also knows the routes of `http://fedway.example`. */
export const toCatalog = (entries: readonly CatalogEntry[], federations: readonly Federation[] = []): Catalog =>
  createCatalog(entries, [], { publicUrl: "http://fedway.example", federations });

export const catalog = toCatalog([
  toEntry("a", { keywords: ["biology"] }),
  toEntry("b", { method: "get", keywords: ["Biology", "open maps"] }),
  toEntry("wiki", { pseudoServices: ["http://wikiba.se/ontology#label"], rawQueries: true }),
]);

/** Abbreviations of the cases: `<a>` and `<b>` are the endpoints' URLs. */
export function inFull(text: string): string {
  return text
    .replaceAll(/<(a|b|wiki)>/g, (_, id) => `<http://${id}.example/sparql>`)
    .replaceAll("<label>", "<http://wikiba.se/ontology#label>");
}

const abbreviated = (text: string): string =>
  text
    .replaceAll(/<http:\/\/(a|b|wiki)\.example\/sparql>/g, "<$1>")
    .replaceAll(/\s+/g, " ")
    .trim();

export interface CaseOptions extends Partial<Omit<PlanRequest, "text">> {
  readonly egress?: PlannerOptions["egress"];
  readonly sources?: PlannerOptions["sources"];
}

/** What is known of `a` and `b` where they are two shards by subject. */
export const twoShards: PlannerOptions["sources"] = {
  version: 1,
  select: (plan) => plan,
  emptyClauses: () => [],
  clauseEstimates: () => [],
  facts: () => undefined,
  subjectPartition: ({ id }) => (id === "a" || id === "b" ? "http://fedway.example/shards/x" : undefined),
};

/** Plans a text in which endpoints are abbreviated. */
export function planFor(text: string, { egress = "catalog", sources, ...request }: CaseOptions = {}): QueryPlan {
  const planner = createPlanner({ catalog, egress, sources, publicUrl: "http://fedway.example" });
  return planner.plan({ text: inFull(text), strict: false, defaultGraphs: [], namedGraphs: [], ...request }).plan;
}

/**
 * `ID: text`, with `silent` in front of the colon where a failure is silenced, for a direct plan;
 * `ID+ID: text` for a federated one (`here: text` without members); `CODE` for a rejection. Notes follow in brackets.
 */
export function summary(plan: QueryPlan): string {
  if (plan.kind === "rejected") return plan.reason.code;
  const notes = plan.notes.length > 0 ? ` [${plan.notes.map((note) => note.code).join(" ")}]` : "";
  if (plan.kind === "direct") {
    const name = plan.endpoint.id ?? plan.endpoint.url;
    return `${name}${plan.silent ? " silent" : ""}: ${abbreviated(plan.query)}${notes}`;
  }
  const members = plan.members.map(({ endpoint, clauses, silent }) => {
    const name = endpoint.id ?? endpoint.url;
    return `${name}${clauses > 1 ? `*${clauses}` : ""}${silent ? "~" : ""}`;
  });
  return `fed ${members.join("+") || "here"}: ${abbreviated(plan.query)}${notes}`;
}

/** One case: the query gets exactly this plan (see `summary`). */
export function shouldPlan(text: string, expected: string, options: CaseOptions = {}): void {
  it(`${options.endpointId ? `/${options.endpointId} ` : ""}${options.strict ? "strict " : ""}${text}`, () => {
    expect(summary(planFor(text, options))).toBe(expected);
  });
}

/** One case: the query is legal but rejected; `at` is `line:column`, `told` must match the message and advice. */
export function shouldReject(
  text: string,
  expected: { code: ErrorCode; at?: string; told?: RegExp } & CaseOptions,
): void {
  const { code, at, told, ...options } = expected;
  it(`rejects ${options.endpointId ? `/${options.endpointId} ` : ""}${text}`, () => {
    const plan = planFor(text, options);
    expect(plan.kind).toBe("rejected");
    if (plan.kind !== "rejected") return;
    expect(plan.reason).toBeInstanceOf(FedwayError);
    expect(plan.reason.code).toBe(code);
    const { where, next, endpoints = [] } = plan.reason.details;
    expect(next).toMatch(/\S/);
    if (at) expect(`${where?.line}:${where?.column}`).toBe(at);
    if (told) expect(`${plan.reason.message} ${next} ${endpoints.join(" ")}`).toMatch(told);
  });
}
