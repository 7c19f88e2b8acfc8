import { isWord } from "../sparql/query.ts";
import { adaptedKeys } from "./adapted-keys.ts";
import {
  madeIn,
  refuseEvaluation,
  withAbilities,
  withColumns,
  withDoubts,
  withEstimates,
  withHeadNotes,
  withNonMonotone,
  withPartNotes,
  withRelevantMembers,
  withRemarks,
  withWholeNotes,
} from "./complete-plan.ts";
import { cutPlan, type Draft, emptyGraphs, expandTargets, hasSeveral, judgeDataset, rewritten } from "./decide-plan.ts";
import { colocatedClauses, prunedClauses } from "./prune-clauses.ts";
import { usedIds } from "./plan-notes.ts";
import type { PlanTask } from "./plan-request.ts";
import type { DirectPlan, FederatedPlan } from "./query-plan.ts";

/** A step from a parsed query to its plan. */
interface Pass {
  readonly name: string;
  /** Judged by what the parse and the request have already: a pass that does not apply costs no visit. */
  readonly applies: (draft: Draft) => boolean;
  /** @throws FedwayError for what is rejected */
  readonly run: (draft: Draft) => Draft;
}

const choosing = ["ASK", "EXISTS", "LIMIT", "MINUS", "OFFSET", "OPTIONAL"];
const counting = ["AVG", "COUNT", "GROUP", "GROUP_CONCAT", "HAVING", "MAX", "MIN", "SAMPLE", "SUM"];

/** Planning, in its order: up to the cut passes rewrite the query, behind it they complete the plan. */
const passes: readonly Pass[] = [
  { name: "judge the dataset", applies: hasDataset, run: judgeDataset },
  { name: "empty SERVICE in GRAPH", applies: hasEmptyGraphs, run: emptyGraphs },
  { name: "expand variables and keywords", applies: ({ query }) => hasSeveral(query), run: expandTargets },
  { name: "adapt keys", applies: asksSeveral, run: (draft) => rewritten(draft, adaptedKeys) },
  { name: "leave out empty clauses", applies: prunes, run: (draft) => rewritten(draft, prunedClauses) },
  { name: "merge clauses of one subject", applies: joinsClauses, run: (draft) => rewritten(draft, colocatedClauses) },
  { name: "cut the text", applies: () => true, run: cutPlan },
  { name: "note other parts", applies: hasParts, run: withPartNotes },
  { name: "select members", applies: isFederated, run: withRelevantMembers },
  { name: "fit capabilities", applies: ({ task }) => task.context.capabilities !== undefined, run: withAbilities },
  { name: "doubt patterns", applies: has("REGEX", "REPLACE"), run: withDoubts },
  { name: "add notes of the request", applies: ({ headNotes = [] }) => headNotes.length > 0, run: withHeadNotes },
  { name: "judge the evaluation", applies: isFederated, run: refuseEvaluation },
  { name: "mark what is not monotone", applies: mayAddRows, run: withNonMonotone },
  { name: "estimate clauses", applies: estimates, run: withEstimates },
  { name: "name the columns", applies: isFederated, run: withColumns },
  { name: "remark on an empty answer", applies: mayLackTerms, run: withRemarks },
  { name: "note members that are down", applies: hasNotesOnAll, run: withWholeNotes },
];

/** How long a pass of a plan took. */
export interface PassTime {
  readonly pass: string;
  readonly ms: number;
}

const times = new WeakMap<object, readonly PassTime[]>();

/** The passes that made a plan, in their order; undefined of one that took none. */
export const passTimes = (plan: object): readonly PassTime[] | undefined => times.get(plan);

/** Runs the passes. @throws FedwayError for everything that is rejected */
export function planned(start: Draft): DirectPlan | FederatedPlan {
  const taken: PassTime[] = [];
  let draft = start;
  let before = performance.now();
  for (const { name, applies, run } of passes) {
    if (!applies(draft)) continue;
    draft = run(draft);
    const now = performance.now();
    taken.push({ pass: name, ms: now - before });
    before = now;
  }
  const { plan } = madeIn(draft);
  times.set(plan, taken);
  return plan;
}

function isFederated({ made }: Draft): boolean {
  return made?.plan.kind === "federated";
}

/** A word of the query, whatever it stands for there. */
function has(...words: readonly string[]): Pass["applies"] {
  return ({ read }) => read.tokens.some((token) => isWord(token, ...words));
}

function hasDataset({ query, task: { entry, over, request } }: Draft): boolean {
  const given = query.datasets.length + request.defaultGraphs.length + request.namedGraphs.length;
  return given > 0 || entry !== undefined || over !== undefined;
}

function hasEmptyGraphs({ query, task: { entry, over } }: Draft): boolean {
  return entry === undefined && over === undefined && query.serviceGraphs.length > 0;
}

function asksSeveral({ targets, task }: Draft): boolean {
  return targets.members.size > 1 || task.over !== undefined;
}

/** Facts may decide which endpoints are asked. */
function usesFacts({ context, request }: PlanTask): boolean {
  return context.sources !== undefined && request.prune !== false;
}

/** Asking whether a single clause has solutions costs as much as asking for them. */
function prunes({ targets, task }: Draft): boolean {
  return usesFacts(task) && (targets.members.size > 1 || task.request.prune === "trust");
}

function joinsClauses({ targets, task }: Draft): boolean {
  return usesFacts(task) && targets.members.size > 1;
}

function estimates(draft: Draft): boolean {
  return isFederated(draft) && usesFacts(draft.task);
}

function hasParts(draft: Draft): boolean {
  return draft.task.context.parts !== undefined && isDescribed(draft);
}

/** Of endpoints without a description no term is known to be missing. */
function mayLackTerms(draft: Draft): boolean {
  const { remarks, terms } = draft.task.context;
  return remarks !== undefined && (terms === undefined || isDescribed(draft));
}

/** An endpoint that is asked, or is no longer, is described. */
function isDescribed({ sent, made, task: { context, entry, over } }: Draft): boolean {
  const { terms } = context;
  const isKnown = (id: string | undefined): boolean => id !== undefined && terms?.descriptionVersion(id) !== undefined;
  const named = [entry, ...(over?.members ?? []), ...sent.targets.members.values()];
  return named.some((each) => isKnown(each?.id)) || (made !== undefined && usedIds(made.plan).some(isKnown));
}

function hasNotesOnAll({ task: { context, request } }: Draft): boolean {
  return context.availability !== undefined || request.federationId !== undefined;
}

/** A federated plan, or a word without which missing solutions only take rows away. */
function mayAddRows(draft: Draft): boolean {
  return isFederated(draft) || has(...choosing, ...counting)(draft);
}
