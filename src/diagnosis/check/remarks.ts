import { lackOf } from "../../plan/known-terms.ts";
import type { KnownTerms, PlanContext, Remarks } from "../../plan/plan-request.ts";
import type { PlanNote } from "../../plan/query-plan.ts";
import { entryMeant } from "../../plan/service-targets.ts";
import { usedTerms } from "../../sparql/used-terms.ts";
import { evidenceText } from "../evidence.ts";

const mostRemarks = 5;

/**
 * What descriptions say of an answer that is empty: terms that none of the endpoints has which are asked for them, and what may
 * have been meant. What a note of the plan says is not said again.
 */
export function createRemarks(terms: KnownTerms, { catalog }: Pick<PlanContext, "catalog">): Remarks {
  return (parsed, plan, { entry, over }) => {
    const outside = entry ? [entry] : (over?.members ?? (plan.kind === "direct" ? [plan.endpoint] : []));
    const remarks = usedTerms(parsed).flatMap(({ service, terms: used }) => {
      const asked = service === undefined ? outside : [entryMeant(service, { catalog })];
      const ids = asked.flatMap((each) => each?.id ?? []);
      if (ids.length === 0 || ids.length < asked.length) return [];
      const at = ids.flatMap((id) => terms.descriptionVersion(id) ?? []);
      return used
        .filter((term) => ids.every((id) => terms.hasTerm(id, term) === "no"))
        .map((term) => lackOf(term, { ids, parsed, terms }))
        .filter(({ lack }) => !plan.notes.some(({ message }) => message.includes(lack)))
        .map(({ lack, meant }): PlanNote => {
          const message = `${lack}, ${evidenceText({ kind: "described", at })}.${meant}`;
          return { code: "TERM_UNKNOWN", message };
        });
    });
    return remarks.slice(0, mostRemarks);
  };
}
