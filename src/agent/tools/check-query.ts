import { Type } from "typebox";
import type { CheckedQuery, QueryCheck } from "../../diagnosis/check/query-check.ts";
import type { UnknownTerm } from "../../diagnosis/check/unknown-terms.ts";
import { plainText } from "../../rdf/display-text.ts";
import type { Reply } from "../reply.ts";
import { instead } from "../results/show-result.ts";
import { defineTool } from "../tool.ts";

/** Says what is wrong with a query before it is run. */
export const checkQuery = ({ check }: { readonly check: QueryCheck }) =>
  defineTool({
    name: "check_query",
    title: "Check a SPARQL query",
    text: ["Checks a query without running it: repairs, unknown terms, contradictions to known facts, plan, cost."],
    input: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 100_000 }),
      endpoint: Type.Optional(Type.String({ maxLength: 2_048 })),
    }),
    output: { valid: "boolean", query: "string", repairs: "array", suggested: "string", plan: "object" },
    run: async ({ query, endpoint }, { owner, session, signal }) =>
      shown(await check.check({ query, endpoint, owner, session }, { signal })),
  });

const mostUnknown = 5;

function shown({ next, valid, plan, problem, cost, repeatOf, ...checked }: CheckedQuery): Reply {
  const { query, repairs, unknown, contradictions, suggested } = checked;
  const parts = partsOf(plan);
  const endpoints = plan?.endpoints.slice(0, 10).join(", ") || "no endpoint";
  return {
    status: `${verdictOf(valid, checked)}${plan === undefined ? "" : `; ${plan.kind}: ${endpoints}`}`,
    cause: problem ? { ...problem, next: problem.next ?? next } : null,
    rows: faultLines(checked),
    notes: [...parts.map(({ message }) => plainText(message, 300)), ...costText(cost), ...repeatText(repeatOf)],
    repairs,
    repaired: repairs.some(({ applied }) => applied) ? query : undefined,
    suggested: suggested ?? instead(parts),
    next: suggested === undefined && problem ? undefined : next,
    data: {
      valid,
      query,
      repairs,
      unknown,
      contradictions,
      suggested,
      plan: planText(plan),
      cost,
      repeat_of: repeatOf,
    },
  };
}

/** The first word is what a reader in haste goes by. */
function verdictOf(
  valid: boolean,
  { unknown, contradictions, suggested }: Pick<CheckedQuery, "unknown" | "contradictions" | "suggested">,
): string {
  if (!valid) return "not valid";
  if (contradictions.some(({ certain, isEmpty }) => certain && isEmpty)) return "no row matches";
  return unknown.length + contradictions.length > 0 || suggested !== undefined ? "doubtful" : "valid";
}

/** Unknown terms and contradictions, a line each. */
export const faultLines = ({ unknown, contradictions }: Pick<CheckedQuery, "unknown" | "contradictions">) => [
  ...unknown.slice(0, mostUnknown).map(unknownLine),
  ...contradictions.map(contradictionLine),
];

const planText = (plan: CheckedQuery["plan"]) =>
  plan && { ...plan, notes: plan.notes.map(({ code, message }) => `${code}: ${message}`) };

/** Notes on other parts of the data that the query asks one endpoint for. */
const partsOf = (plan: CheckedQuery["plan"]) => plan?.notes.filter(({ code }) => code === "PART_ASKED") ?? [];

const costText = (cost: CheckedQuery["cost"]): readonly string[] => (cost === undefined ? [] : [`cost: ${cost}`]);

const repeatText = (earlier: CheckedQuery["repeatOf"]): readonly string[] =>
  earlier === undefined
    ? []
    : [`repeated: you ran this query ${earlier.times === 1 ? "" : `${earlier.times} times, last `}at ${earlier.at}.`];

const contradictionLine = ({ certain, message }: CheckedQuery["contradictions"][number]): string =>
  `contradiction${certain ? "" : " (not certain)"}: ${plainText(message, 400)}`;

function unknownLine({ kind, iri, endpoints, certain, nearest, elsewhere }: UnknownTerm): string {
  const where = endpoints.slice(0, 3).join(", ");
  const near = nearest.map(({ term, why }) => `${plainText(term, 160)} (${plainText(why, 60)})`).join(" | ");
  const others = elsewhere.length === 0 ? "" : `; ${elsewhere.join(", ")} has it`;
  return `unknown ${kind} <${plainText(iri, 160)}> at ${where}${certain ? "" : " (not certain)"}: ${near || "nothing like it"}${others}`;
}
