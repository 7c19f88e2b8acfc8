import { parseQuery } from "../sparql/query.ts";
import { adaptedKeys } from "./adapted-keys.ts";
import {
  refuseEvaluation,
  withAbilities,
  withColumns,
  withDoubts,
  withEstimates,
  withHeadNotes,
  withNonMonotone,
  withPartNotes,
  withWholeNotes,
} from "./complete-plan.ts";
import {
  cutPlan,
  type Draft,
  emptyGraphs,
  expandTargets,
  hasSeveral,
  judgeDataset,
  madeIn,
  rewritten,
} from "./decide-plan.ts";
import { colocatedClauses, prunedClauses } from "./prune-clauses.ts";
import type { PlanTask } from "./plan-request.ts";
import { type DirectPlan, type FederatedPlan, type PlanNote, type QueryPlan, usedIds } from "./query-plan.ts";
import { withRelevantMembers } from "./relevant-members.ts";
import { withPlace } from "./request-place.ts";
import { mirrorsIn } from "./service-targets.ts";

/** A step from a parsed query to its plan. */
interface Pass {
  readonly name: string;
  /** Judged by what the parse and the request have already: a pass that does not apply costs no visit. */
  readonly applies: (draft: Draft) => boolean;
  /** @throws FedwayError for what is rejected */
  readonly run: (draft: Draft) => Draft;
}

/** Planning, in its order: up to the cut passes rewrite the query, behind it they complete the plan. */
const passes: readonly Pass[] = [
  { name: "find the place", applies: mayHavePlace, run: withPlace },
  { name: "judge the dataset", applies: hasDataset, run: judgeDataset },
  { name: "empty SERVICE in GRAPH", applies: hasEmptyGraphs, run: emptyGraphs },
  { name: "expand variables and keywords", applies: ({ query }) => hasSeveral(query), run: expandTargets },
  { name: "adapt keys", applies: hasAdapters, run: (draft) => rewritten(draft, adaptedKeys) },
  { name: "leave out empty clauses", applies: prunes, run: (draft) => rewritten(draft, prunedClauses) },
  { name: "merge clauses of one subject", applies: joinsClauses, run: (draft) => rewritten(draft, colocatedClauses) },
  { name: "cut the text", applies: () => true, run: cutPlan },
  { name: "note other parts", applies: hasParts, run: withPartNotes },
  { name: "select members", applies: mergesMembers, run: withRelevantMembers },
  { name: "fit capabilities", applies: knowsEndpoints, run: withAbilities },
  { name: "doubt patterns", applies: has("REGEX", "REPLACE"), run: withDoubts },
  { name: "add notes of the request", applies: ({ headNotes }) => headNotes.length > 0, run: withHeadNotes },
  { name: "judge the evaluation", applies: isFederated, run: refuseEvaluation },
  { name: "mark what is not monotone", applies: ({ read }) => read.mayAddRows, run: withNonMonotone },
  { name: "estimate clauses", applies: estimates, run: withEstimates },
  { name: "name the columns", applies: isFederated, run: withColumns },
  { name: "note members that are down", applies: lacksMembers, run: withWholeNotes },
];

/** How long a pass of a plan took. */
export interface PassTime {
  readonly pass: string;
  readonly ms: number;
}

const times = new WeakMap<object, readonly PassTime[]>();
const notesOnEmpty = new WeakMap<QueryPlan, () => readonly PlanNote[]>();

/** The passes that made a plan, in their order; undefined of one that took none. */
export const passTimes = (plan: object): readonly PassTime[] | undefined => times.get(plan);

/** Further notes for the reader of an empty answer, made when one is read. */
export function notesIfEmpty(plan: QueryPlan): readonly PlanNote[] {
  const notes = notesOnEmpty.get(plan)?.() ?? [];
  if (notes.length > 0) notesOnEmpty.set(plan, () => notes);
  return notes;
}

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
  if (mayLackTerms(draft)) notesOnEmpty.set(plan, remarksOn(plan, draft));
  return plan;
}

/** Keeps no tree: it is larger than the text by far. */
function remarksOn(plan: DirectPlan | FederatedPlan, { read: { text }, task }: Draft): () => readonly PlanNote[] {
  const { context, entry, over } = task;
  return () => context.remarks?.(parseQuery(text), plan, { entry, over }) ?? [];
}

/** The request names no place, and the query none by SERVICE alone; or a federation, which may be that of all described endpoints. */
function mayHavePlace({ query, task: { entry, over, request } }: Draft): boolean {
  if (request.federationId !== undefined) return true;
  return entry === undefined && over === undefined && (query.services.length === 0 || query.datasets.length > 0);
}

function isFederated({ made }: Draft): boolean {
  return made?.plan.kind === "federated";
}

/** A word of the query, whatever it stands for there. */
function has(...words: readonly string[]): Pass["applies"] {
  return ({ read }) => words.some((word) => read.vocabulary.has(word));
}

function hasDataset({ query, task: { entry, over, request } }: Draft): boolean {
  const given = query.datasets.length + request.defaultGraphs.length + request.namedGraphs.length;
  return given > 0 || entry !== undefined || over !== undefined;
}

function hasEmptyGraphs({ query, task: { entry, over } }: Draft): boolean {
  return entry === undefined && over === undefined && query.serviceGraphs.length > 0;
}

/** Several endpoints are asked, and the catalogue has adapters of the keys of one. */
function hasAdapters({ targets: { members }, task: { over, context } }: Draft): boolean {
  if (members.size < 2 && over === undefined) return false;
  const named = [...members.values(), ...(over?.members ?? [])];
  return named.some(({ id }) => id !== undefined && context.catalog.byId(id)?.keyAdapters !== undefined);
}

/** Facts may decide which endpoints are asked. */
function usesFacts({ context, request }: PlanTask): boolean {
  return context.sources !== undefined && request.prune !== false;
}

/** Asking whether a single clause has solutions costs as much as asking for them. */
function prunes({ targets, task }: Draft): boolean {
  return (targets.members.size > 1 || task.request.prune === "trust") && usesFacts(task);
}

/** Endpoints may be shards of one set. */
function joinsClauses({ targets, task }: Draft): boolean {
  if (targets.members.size < 2 || !usesFacts(task)) return false;
  return [...targets.members.values()].some((endpoint) => task.context.sources?.subjectPartition(endpoint));
}

function estimates(draft: Draft): boolean {
  return isFederated(draft) && usesFacts(draft.task);
}

/** Patterns or clauses are for the members of a federation. */
function mergesMembers({ made }: Draft): boolean {
  if (made?.plan.kind !== "federated") return false;
  return made.plan.over !== undefined || made.plan.clauses.some(({ endpoint }) => endpoint.over !== undefined);
}

/** Something is known of how an endpoint must be asked, or which one has its data too. */
function knowsEndpoints({ made, task: { context } }: Draft): boolean {
  const { capabilities, catalog } = context;
  if (capabilities === undefined || made === undefined) return false;
  const mirrors = mirrorsIn(catalog.entries);
  const isKnown = (id: string): boolean => capabilities.view(id) !== undefined || mirrors.has(id);
  return made.plan.exclusions !== undefined || usedIds(made.plan).some(isKnown);
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
function isDescribed({ asked, made, task: { context, entry, over } }: Draft): boolean {
  const { terms } = context;
  const isKnown = (id: string | undefined): boolean => id !== undefined && terms?.descriptionVersion(id) !== undefined;
  const named = [entry, ...(over?.members ?? []), ...asked.targets.members.values()];
  return named.some((each) => isKnown(each?.id)) || (made !== undefined && usedIds(made.plan).some(isKnown));
}

/** A member is down, or may be missing from the catalogue. */
function lacksMembers({ made, task: { context, request } }: Draft): boolean {
  if (request.federationId !== undefined) return true;
  const { availability } = context;
  return made !== undefined && usedIds(made.plan).some((id) => availability?.state(id) === "down");
}
