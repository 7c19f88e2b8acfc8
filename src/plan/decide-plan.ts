import { FedwayError } from "../errors/fedway-error.ts";
import { type Query, parseQuery, type TokenRange, withAbsoluteIris, wrapOutside } from "../sparql/query.ts";
import { withEmptyGraphs, withExpandedTargets, withoutDatasets } from "./wrappers.ts";
import {
  directPlan,
  untouchedPlan,
  federatedPlan,
  evaluatedOver,
  federationUnused,
  isMatchedHere,
  judgeGraphs,
  mergedMembers,
  mergedPlan,
  type MadePlan,
  refuseDataset,
  madeOf,
  withMembers,
} from "./build-plan.ts";
import type { KnownFederation, PlanTask } from "./plan-request.ts";
import type { MergedMembers, PlanNote } from "./query-plan.ts";
import { serviceRequired } from "./offer-endpoints.ts";
import type { NotedText } from "./prune-clauses.ts";
import type { Exclusions } from "./source-selection.ts";
import { isKeyword, isOpenTarget, serviceTargets, type ServiceTargets, withKeyword } from "./service-targets.ts";

/** A query on its way to a plan; each pass gives a new one. */
export interface Draft {
  readonly task: PlanTask;
  /** As the parser read it. */
  readonly read: Query;
  /** The query before it was rewritten, with its targets. */
  readonly asked: { readonly query: Query; readonly targets: ServiceTargets };
  readonly query: Query;
  readonly targets: ServiceTargets;
  readonly notes: readonly PlanNote[];
  /** Notes on the reading and the request, before all others. */
  readonly headNotes: readonly PlanNote[];
  /** Patterns outside of every SERVICE went along to the endpoint. */
  readonly sendsOutsidePatterns: boolean;
  /** Endpoints that facts exclude. */
  readonly exclusions?: Exclusions | undefined;
  /** From the pass on that cuts the text. */
  readonly made?: MadePlan | undefined;
}

/** The plan that the cut made of a draft, as later passes have changed it. */
export function madeIn({ made }: Draft): MadePlan {
  if (made === undefined) throw new Error("The text of the query was not cut.");
  return made;
}

/** Longest text that a rewriting step may produce, in UTF-16 code units. */
const rewrittenAtMost = 2_000_000;

/** The draft of a query that the parser accepted. @throws FedwayError for targets that are refused */
export function draftOf(read: Query, task: PlanTask): Draft {
  const query = task.over ? withRequestedDataset(read, task) : read;
  const targets = serviceTargets(query, task);
  const { notes } = targets;
  return { task, read, asked: { query, targets }, query, targets, notes, headNotes: [], sendsOutsidePatterns: false };
}

/** The query with the protocol's dataset, which goes before its own (SPARQL 1.1 Protocol, section 2.1.4). */
function withRequestedDataset(parsed: Query, { request }: PlanTask): Query {
  const { defaultGraphs, namedGraphs } = request;
  if (defaultGraphs.length + namedGraphs.length === 0) return parsed;
  const bare = parseQuery(withoutDatasets(parsed));
  return parseQuery(bare.withDefaultGraphs(defaultGraphs, namedGraphs));
}

/**
 * Judges the datasets of the request and of the query.
 * @throws FedwayError `REQUEST_INVALID` where they do not apply
 */
export function judgeDataset(draft: Draft): Draft {
  const { query, targets, task } = draft;
  const { entry, over } = task;
  if (entry && isMatchedHere(entry)) refuseDataset(query, task.request);
  if (isUntouched(draft)) return draft;
  if (over && hasPart(query))
    return { ...draft, notes: [...draft.notes, ...judgeGraphs(query, mergedMembers(over), task.context)] };
  const isUnused = over && query.services.length > 0 && !namesOver(targets, over);
  const unused = isUnused ? [federationUnused(over)] : [];
  return { ...draft, notes: [...draft.notes, ...datasetNotes(query, task), ...unused] };
}

/** A SERVICE names the federation that the query is sent to. */
const namesOver = ({ members }: ServiceTargets, { federation }: KnownFederation): boolean =>
  [...members.values()].some(({ over }) => over?.federation === federation.id);

/** A query for the endpoint that the request names, which stays as it is. */
const isUntouched = ({ asked: { query, targets }, task }: Draft): boolean =>
  task.entry !== undefined && targets.members.size === 0 && !hasSeveral(query);

/** Without a pattern outside of every SERVICE a federation has no part in the query. */
const hasPart = ({ outside, serviceGraphs, form }: Query): boolean =>
  outside.length > 0 || serviceGraphs.length > 0 || form === "DESCRIBE";

/**
 * Cuts the text: the decision table of README.md.
 * @throws FedwayError for everything that is rejected
 */
export function cutPlan(draft: Draft): Draft {
  const { exclusions } = draft;
  const made = planOf(draft);
  return { ...draft, made: exclusions === undefined ? made : { ...made, plan: { ...made.plan, exclusions } } };
}

function planOf(draft: Draft): MadePlan {
  const { query, targets, task } = draft;
  if (task.entry && isUntouched(draft)) {
    const plan = untouchedPlan(query, task.entry, task.request);
    return madeOf(isMatchedHere(task.entry) ? evaluatedOver(plan) : plan, () => query);
  }
  if (task.over && hasPart(draft.asked.query)) return overMembers(draft, mergedMembers(task.over));
  const [pattern] = draft.asked.query.outside;
  if (draft.asked.query.services.length === 0 && pattern)
    throw serviceRequired(query, query.whereIs(pattern), task.context);
  if (targets.members.size === 0) return evaluatedHere(draft);
  const isOne = endpointsOf(draft).size === 1 && ![...targets.members.values()].some(isOpenTarget);
  return isOne ? oneEndpoint(draft) : severalEndpoints(draft);
}

/** A query over a federation: patterns outside of every SERVICE belong to all of its members. */
function overMembers(draft: Draft, over: MergedMembers): MadePlan {
  if (draft.targets.members.size === 0) {
    const { query } = draft;
    return madeOf(mergedPlan({ answer: query.kind, query: query.text, notes: draft.notes }, over), () => query);
  }
  const made = severalClauses(draft, true);
  return { ...made, plan: withMembers(made.plan, over) };
}

const severalClauses = (draft: Draft, keepsDataset = false) =>
  federatedPlan(hasNested(draft) ? lift(draft) : draft, keepsDataset);

const hasNested = ({ query, targets }: Draft): boolean =>
  query.services.some((clause) => clause.parent && targets.members.has(clause.element.from));

/** A SERVICE may mean several endpoints. */
export const hasSeveral = (query: Query): boolean =>
  query.services.some(({ target }) => (target.kind === "variable" ? target.values : isKeyword(target.iri)));

/** The same query in a new text, analysed and checked afresh. */
function redraft(draft: Draft, text: string, task = draft.task): Draft {
  if (text.length > rewrittenAtMost) {
    throw new FedwayError(
      "QUERY_TOO_LARGE",
      "The query becomes too large once its SERVICE variables and keywords are replaced.",
      { next: "Name fewer endpoints in VALUES." },
    );
  }
  const query = parseQuery(text);
  return { ...draft, query, targets: serviceTargets(query, task) };
}

const note = (draft: Draft, code: PlanNote["code"], message: string): Draft => ({
  ...draft,
  notes: [...draft.notes, { code, message }],
});

/** FROM and the protocol's dataset describe the dataset of this service, which is empty. */
function datasetNotes(query: Query, { request, entry }: PlanTask): readonly PlanNote[] {
  const given = query.datasets.length + request.defaultGraphs.length + request.namedGraphs.length;
  if (given === 0) return [];
  if (entry && query.outside.length > 0) {
    throw new FedwayError(
      "REQUEST_INVALID",
      "A dataset cannot be combined with SERVICE clauses on an endpoint's route.",
      {
        next: "Leave out FROM and the dataset parameters and name the graph with GRAPH, or leave out the SERVICE clauses.",
      },
    );
  }
  const message =
    "FROM, FROM NAMED and the dataset parameters describe this service's own dataset; they were not sent into a SERVICE.";
  return [{ code: "DATASET_IGNORED", message }];
}

/** No endpoint takes part: evaluated over the empty dataset. */
function evaluatedHere(draft: Draft): MadePlan {
  const { query, task } = draft;
  const [pattern] = query.outside;
  if (pattern) throw outsideService(query, pattern);
  if (query.form === "DESCRIBE") throw serviceRequired(query, undefined, task.context);
  // After a prune the note on that says why no endpoint is asked.
  const isPruned = draft.notes.some(({ code }) => code === "CLAUSES_LEFT_OUT");
  const none = "The query reads no data, so no endpoint was asked.";
  const noted = isPruned ? draft : note(draft, "EVALUATED_HERE", none);
  const text = query.datasets.length > 0 ? withoutDatasets(query) : query.text;
  const skeleton = withAbsoluteIris(text);
  const { notes } = noted;
  const plan = {
    kind: "federated",
    answer: query.kind,
    query: text,
    skeleton,
    clauses: [],
    members: [],
    notes,
  } as const;
  return madeOf(plan, () => query);
}

/** On `/sparql` a SERVICE inside GRAPH gives nothing, because our dataset has no named graph. */
export function emptyGraphs(draft: Draft): Draft {
  const message =
    "A SERVICE inside GRAPH gives no solution: this service's dataset has no named graph. Put GRAPH inside the SERVICE.";
  return note(redraft(draft, withEmptyGraphs(draft.query)), "GRAPH_EMPTY", message);
}

/** Each round removes one nesting level of SERVICE variables and keywords. */
export function expandTargets(draft: Draft): Draft {
  const { context } = draft.task;
  let expanded = draft;
  const urlsOf = (iri: string) => (isKeyword(iri) ? withKeyword(iri, context).map(({ url }) => url) : undefined);
  for (let round = 0; round < 4 && hasSeveral(expanded.query); round++) {
    expanded = redraft(expanded, withExpandedTargets(expanded.query, urlsOf));
  }
  return expanded;
}

/** The draft with the text of a step, if that changes anything, and its note. */
export function rewritten(draft: Draft, step: (draft: Draft) => NotedText | undefined): Draft {
  const after = step(draft);
  if (after === undefined) return draft;
  const redrafted = redraft(draft, after.text);
  const notes = [...redrafted.notes, after.note];
  return { ...redrafted, notes, exclusions: draft.exclusions ?? after.exclusions };
}

/** URLs of all endpoints that take part; on an endpoint's route that one too, if patterns or a GRAPH outside belong to it. */
function endpointsOf(draft: Draft): Set<string> {
  const { task } = draft;
  const urls = new Set([...draft.targets.members.values()].map((endpoint) => endpoint.url));
  if (task.entry && hasOwnPart(draft)) urls.add(task.entry.url);
  return urls;
}

/** Patterns or a GRAPH outside of every SERVICE. */
const hasOwnPart = ({ query: { outside, serviceGraphs } }: Draft): boolean => outside.length + serviceGraphs.length > 0;

function oneEndpoint(draft: Draft): MadePlan {
  const { query, targets, task } = draft;
  const [outside] = query.outside;
  if (outside && task.request.strict && !task.entry) throw outsideService(query, outside);
  const inGraph = query.services.some(
    (clause) => targets.members.has(clause.element.from) && clause.inGraph !== "none",
  );
  if (inGraph) return toOneEndpoint(lift(draft));
  if (!outside || task.entry) return toOneEndpoint({ ...draft, sendsOutsidePatterns: outside !== undefined });
  const message = "Patterns outside of the SERVICE were sent to its endpoint, too; strictly, they match nothing here.";
  return toOneEndpoint(note({ ...draft, sendsOutsidePatterns: true }, "PATTERN_SENT_ON", message));
}

/** The query for one endpoint, sent there or, when that does not speak SPARQL, evaluated here. */
function toOneEndpoint(draft: Draft): MadePlan {
  const made = directPlan(draft);
  if (!isMatchedHere(made.plan.endpoint)) return made;
  // Clauses that stay clauses are silenced one by one.
  return made.plan.silent ? severalClauses(draft) : { ...made, plan: evaluatedOver(made.plan) };
}

function severalEndpoints(draft: Draft): MadePlan {
  const { query, task } = draft;
  const [outside] = query.outside;
  if (outside && !task.entry) throw outsideService(query, outside);
  query.refuseLargeEvaluation();
  if (query.form === "DESCRIBE") {
    throw new FedwayError(
      "SERVICE_REQUIRED",
      "DESCRIBE over several endpoints does not say which of them describes the resources.",
      {
        next: "Use CONSTRUCT { ?x ?p ?o } with a SERVICE for ?x ?p ?o, or one query for each endpoint.",
      },
    );
  }
  return federatedPlan(hasNested(draft) || hasOwnPart(draft) ? lift(draft) : draft);
}

/** Gives every pattern beside a SERVICE for another endpoint a SERVICE of its own. */
function lift(draft: Draft): Draft {
  const { query, targets, task } = draft;
  const nested = hasNested(draft);
  const own = hasOwnPart(draft) ? task.entry : undefined;
  const text = wrapOutside(query, {
    isMember: (service) => targets.members.has(service.from),
    urlOf: (service) => targets.members.get(service.from)?.url ?? "",
    own: own?.url,
  });
  let lifted = redraft(draft, text, { ...task, entry: undefined });
  if (own) lifted = note(lifted, "PATTERN_WRAPPED", `Patterns outside of every SERVICE were read from ${own.id}.`);
  if (!nested) return lifted;
  return note(lifted, "SERVICE_LIFTED", "A SERVICE inside another SERVICE was taken out and is called from here.");
}

function outsideService(query: Query, pattern: TokenRange): FedwayError {
  return new FedwayError(
    "PATTERN_OUTSIDE_SERVICE",
    "A pattern stands outside of every SERVICE, so no endpoint answers it.",
    {
      where: query.whereIs(pattern),
      next: "Move the pattern into the SERVICE of the endpoint that has its data.",
    },
  );
}
