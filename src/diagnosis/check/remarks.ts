import { lackOf } from "../../plan/known-terms.ts";
import type { KnownTerms, PlanContext } from "../../plan/plan-request.ts";
import { entryMeant } from "../../plan/meant-entries.ts";
import { describedStatement, describedText } from "../evidence.ts";

/** Limit of terms with suggestions: planning waits for them. */
const mostRemarks = 5;

/**
 * Remarks from descriptions on an empty answer: terms that none of the endpoints asked for them has, with suggestions of other
 * terms. Facts in a note of the plan are not repeated.
 */
export function createRemarks(terms: KnownTerms, catalog: PlanContext["catalog"]): NonNullable<PlanContext["remarks"]> {
  return (parsed, plan, { entry, over }) => {
    const outside = entry ? [entry] : (over?.members ?? (plan.kind === "direct" ? [plan.endpoint] : []));
    const lacking = parsed.usedTerms.flatMap(({ service, terms: used }) => {
      const asked = service === undefined ? outside : [entryMeant(service, catalog)];
      const ids = asked.flatMap((each) => each?.id ?? []);
      if (ids.length === 0 || ids.length < asked.length) return [];
      const described = ids.flatMap((endpoint) => {
        const time = terms.descriptionVersion(endpoint);
        return time === undefined ? [] : [{ endpoint, time }];
      });
      return used
        .filter((term) => ids.every((id) => terms.hasTerm(id, term) === "no"))
        .map((term) => {
          const { lack, meant } = lackOf(term, { ids, prologue: parsed.prologue, terms });
          const read = described.map(({ endpoint, time }) => ({ endpoint, time, term, count: 0 }));
          return { lack, meant, read };
        });
    });
    return lacking
      .filter(({ lack }) => !plan.notes.some(({ message }) => message.includes(lack)))
      .slice(0, mostRemarks)
      .map(({ lack, read, meant }) => ({
        code: "TERM_UNKNOWN",
        message: `${lack}, ${describedText(read.map(({ time }) => time))}.${meant()}`,
        statements: [describedStatement(lack, read)],
      }));
  };
}
