import { lackOf } from "../../plan/known-terms.ts";
import type { KnownTerms, PlanContext, Remarks } from "../../plan/plan-request.ts";
import { entryMeant } from "../../plan/meant-entries.ts";
import { usedTerms } from "../../sparql/used-terms.ts";
import { evidenceText } from "../evidence.ts";

/** What was meant is looked up for these only: planning waits for it. */
const mostRemarks = 5;

/**
 * What descriptions say of an answer that is empty: terms that none of the endpoints has which are asked for them, and what may
 * have been meant. What a note of the plan says is not said again.
 */
export function createRemarks(terms: KnownTerms, { catalog }: Pick<PlanContext, "catalog">): Remarks {
  return (parsed, plan, { entry, over }) => {
    const outside = entry ? [entry] : (over?.members ?? (plan.kind === "direct" ? [plan.endpoint] : []));
    const lacking = usedTerms(parsed).flatMap(({ service, terms: used }) => {
      const asked = service === undefined ? outside : [entryMeant(service, { catalog })];
      const ids = asked.flatMap((each) => each?.id ?? []);
      if (ids.length === 0 || ids.length < asked.length) return [];
      const at = ids.flatMap((id) => terms.descriptionVersion(id) ?? []);
      return used
        .filter((term) => ids.every((id) => terms.hasTerm(id, term) === "no"))
        .map((term) => {
          const { lack, meant } = lackOf(term, { ids, parsed, terms });
          return { lack, meant, evidence: { kind: "described", at } as const };
        });
    });
    return lacking
      .filter(({ lack }) => !plan.notes.some(({ message }) => message.includes(lack)))
      .slice(0, mostRemarks)
      .map(({ lack, evidence, meant }) => ({
        code: "TERM_UNKNOWN",
        message: `${lack}, ${evidenceText(evidence)}.${meant()}`,
      }));
  };
}
