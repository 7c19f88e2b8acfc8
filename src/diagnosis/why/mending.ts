import type { TextEdit } from "../../sparql/query.ts";
import { type Inquiry, solvedBy } from "./inquiry.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";

/** Ways to edit the whole query. */
interface Way {
  readonly edits: readonly TextEdit[];
}

/** Those of some ways to edit a query with which it has solutions, in their order. @throws BudgetSpent */
export const mending = async <W extends Way>(inquiry: Inquiry, ways: readonly W[]): Promise<readonly W[]> =>
  (await mendingBeside(inquiry, [], ways)).helping;

/**
 * The same, asked in one question with groups of parts, and whether any of those has solutions. Ways that change a prefix take one
 * question each, where nothing else helps. @throws BudgetSpent
 */
export async function mendingBeside<W extends Way>(
  inquiry: Inquiry,
  groups: readonly (readonly QueryPart[])[],
  ways: readonly W[],
) {
  const { prober } = inquiry;
  const changed = ways.flatMap((way) => solvedBy(inquiry, way.edits).map(({ question }) => ({ way, question })));
  const beside = groups.map((parts) => ({ group: renderParts(parts) }));
  await prober.ask([...beside, ...changed.flatMap(({ question }) => ("query" in question ? [] : question))]);
  const has = (question: (typeof changed)[number]["question"]): boolean => (prober.evidence(question)?.count ?? 0) > 0;
  const own = new Set(beside.map((each) => (prober.evidence(each) === undefined ? undefined : has(each))));
  for (const { question } of changed) {
    if (own.has(true) || changed.some((each) => has(each.question))) break;
    if ("query" in question) await prober.ask([question]);
  }
  return { own, helping: changed.filter(({ question }) => has(question)).map(({ way }) => way) };
}
