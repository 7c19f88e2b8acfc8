import { Type } from "typebox";
import type { CheckedQuery, QueryCheck } from "../../diagnosis/check/query-check.ts";
import type { UnknownTerm } from "../../diagnosis/check/unknown-terms.ts";
import type { Problem } from "../../errors/fedway-error.ts";
import { plainText } from "../../registry/schema/text.ts";
import { problemForModel, repairText } from "../problem-text.ts";
import { defineTool, type Hint, type ToolAnswer } from "../tool.ts";

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
    async run({ query, endpoint }, { owner, session, signal, hint }) {
      return showCheck(await check.check({ query, endpoint, owner, session }, { signal }), hint);
    },
  });

const mostShown = 5;

function showCheck(checked: CheckedQuery, hint: Hint): ToolAnswer {
  const { suggested, plan, cost, repeatOf, unknown, query, repairs, valid } = checked;
  const problem = checked.problem && problemForModel(checked.problem, hint);
  const next = plainText((suggested === undefined && problem?.next) || checked.next, 300);
  const data = {
    valid,
    query,
    repairs,
    unknown,
    contradictions: checked.contradictions,
    suggested: suggested ?? null,
    plan: plan ?? null,
    cost: cost ?? null,
    repeat_of: repeatOf ?? null,
    diagnosis: problem ?? null,
    next,
  };
  return { text: [...linesOf(checked, problem), `next: ${next}`].join("\n"), data };
}

function linesOf(checked: CheckedQuery, problem: Problem | undefined): readonly string[] {
  const { valid, query, repairs, unknown, contradictions, suggested, plan, cost, repeatOf } = checked;
  const endpoints = plan?.endpoints.slice(0, 10).join(", ") ?? "";
  return [
    `${valid ? "valid" : "not valid"}${plan === undefined ? "" : `; ${plan.kind}: ${endpoints || "no endpoint"}`}`,
    ...(problem === undefined ? [] : [`${problem.code}: ${plainText(problem.detail, 300)}${placeOf(problem.where)}`]),
    ...repairs.slice(0, mostShown).map(repairText),
    ...unknown.slice(0, mostShown).map(unknownLine),
    ...contradictions.map(
      ({ certain, message }) => `contradiction${certain ? "" : " (not certain)"}: ${plainText(message, 400)}`,
    ),
    ...(cost === undefined ? [] : [`cost: ${cost}`]),
    ...(repeatOf === undefined
      ? []
      : [
          `repeated: you ran this query ${repeatOf.times === 1 ? "" : `${repeatOf.times} times, last `}at ${repeatOf.at}.`,
        ]),
    ...(repairs.some(({ applied }) => applied) ? [`query:\n${query}`] : []),
    ...(suggested === undefined ? [] : [`suggested:\n${suggested}`]),
  ];
}

const placeOf = (where: { readonly line?: number; readonly column?: number } = {}): string =>
  where.line === undefined ? "" : ` (line ${where.line}:${where.column ?? 1})`;

function unknownLine({ kind, iri, endpoints, certain, nearest, elsewhere }: UnknownTerm): string {
  const where = endpoints.slice(0, 3).join(", ");
  const near = nearest.map(({ term, why }) => `${plainText(term, 160)} (${plainText(why, 60)})`).join(" | ");
  const others = elsewhere.length === 0 ? "" : `; ${elsewhere.join(", ")} has it`;
  return `unknown ${kind} <${plainText(iri, 160)}> at ${where}${certain ? "" : " (not certain)"}: ${near || "nothing like it"}${others}`;
}
