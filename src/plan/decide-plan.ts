import { FedwayError } from "../errors/fedway-error.ts";
import { type AnalysedQuery, analyseQuery, type OutsidePattern } from "../sparql/structure.ts";
import { type ParsedQuery, parseQuery, refuseLargeEvaluation } from "../sparql/query.ts";
import {
  foldedTokens,
  placeOf,
  withAbsoluteIris,
  withDefaultGraphs,
  withEmptyGraphs,
  withExpandedTargets,
  withoutDatasets,
  wrapOutside,
} from "../sparql/rewrite.ts";
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
import { rankedHomes } from "./rank-homes.ts";
import { adaptedKeys } from "./adapted-keys.ts";
import { colocatedClauses, prunedClauses } from "./prune-clauses.ts";
import { isOpenTarget } from "./followed-targets.ts";
import { partNotes } from "./half-answers.ts";
import type { Exclusions } from "./source-selection.ts";
import { isKeyword, serviceTargets, type ServiceTargets, withKeyword } from "./service-targets.ts";

/** A query on its way to a plan; each rewriting step gives a new one. */
export interface Draft {
  readonly query: AnalysedQuery;
  readonly targets: ServiceTargets;
  readonly notes: readonly PlanNote[];
  /** Patterns outside of every SERVICE went along to the endpoint. */
  readonly sendsOutsidePatterns: boolean;
  /** Endpoints that facts exclude. */
  readonly exclusions?: Exclusions | undefined;
}

/** Longest text that a rewriting step may produce, in UTF-16 code units. */
const rewrittenAtMost = 2_000_000;

/**
 * The decision table of README.md for a query that the parser accepted.
 * @throws FedwayError for everything that is rejected
 */
export function decidePlan(sent: ParsedQuery, task: PlanTask): MadePlan {
  const parsed = task.over ? withRequestedDataset(sent, task) : sent;
  const query = analyseQuery(parsed);
  const targets = serviceTargets(query, task);
  const made = decided(query, targets, task);
  const notes = partNotes(query, targets, task);
  return notes.length === 0 ? made : { ...made, plan: { ...made.plan, notes: [...made.plan.notes, ...notes] } };
}

/** The query with the protocol's dataset, which goes before its own (SPARQL 1.1 Protocol, section 2.1.4). */
function withRequestedDataset(parsed: ParsedQuery, { request }: PlanTask): ParsedQuery {
  const { defaultGraphs, namedGraphs } = request;
  if (defaultGraphs.length + namedGraphs.length === 0) return parsed;
  const bare = parseQuery(withoutDatasets(analyseQuery(parsed)));
  return parseQuery(withDefaultGraphs(bare, defaultGraphs, namedGraphs));
}

function decided(query: AnalysedQuery, targets: ServiceTargets, task: PlanTask): MadePlan {
  const unchanged = wholeQuery(query, targets, task);
  if (unchanged) return unchanged;
  const notes = [
    ...targets.notes,
    ...datasetNotes(query, task),
    ...(task.over && query.services.length > 0 && !namesOver(targets, task.over) ? [federationUnused(task.over)] : []),
  ];
  const start: Draft = { query, targets, notes, sendsOutsidePatterns: false };
  const [pattern] = query.outside;
  if (query.services.length === 0 && pattern) throw homeless(query, task, pattern);
  const draft = rewritten(start, task);
  return excluding(planOf(draft, task), draft);
}

/** A SERVICE names the federation that the query is sent to. */
const namesOver = ({ members }: ServiceTargets, { federation }: KnownFederation): boolean =>
  [...members.values()].some(({ over }) => over?.federation === federation.id);

/** With everything that SERVICE clauses stand for written out, and without what provably has no solution. */
const rewritten = (draft: Draft, task: PlanTask): Draft => prune(expand(emptyGraphs(draft, task), task), task);

/** The plan, saying what its draft left out. */
const excluding = (made: MadePlan, { exclusions }: Draft): MadePlan =>
  exclusions === undefined ? made : { ...made, plan: { ...made.plan, exclusions } };

function planOf(draft: Draft, task: PlanTask): MadePlan {
  if (draft.targets.members.size === 0) return evaluatedHere(draft, task);
  const isOne = endpointsOf(draft, task).size === 1 && ![...draft.targets.members.values()].some(isOpenTarget);
  return isOne ? oneEndpoint(draft, task) : severalEndpoints(draft, task);
}

/** Queries that stay as they are: for the endpoint that the request names, or with patterns for a federation's members. */
function wholeQuery(query: AnalysedQuery, targets: ServiceTargets, task: PlanTask): MadePlan | undefined {
  const { parsed } = query;
  const { entry, request } = task;
  const over = mergedMembers(task);
  if (entry && isMatchedHere(entry)) refuseDataset(query, request);
  if (entry && targets.members.size === 0 && !hasSeveral(query)) {
    const plan = untouchedPlan(parsed, entry, request);
    return madeOf(isMatchedHere(entry) ? evaluatedOver(plan) : plan, parsed);
  }
  // Without a pattern outside of every SERVICE the federation has no part in the query.
  const hasPart = query.outside.length > 0 || query.serviceGraphs.length > 0 || parsed.form === "DESCRIBE";
  if (!over || !hasPart) return undefined;
  const notes = [...targets.notes, ...judgeGraphs(query, over, task.context)];
  return overMembers({ query, targets, notes, sendsOutsidePatterns: false }, task, over);
}

/** A query over a federation: patterns outside of every SERVICE belong to all of its members. */
function overMembers(start: Draft, task: PlanTask, over: MergedMembers): MadePlan {
  const draft = rewritten(start, task);
  if (draft.targets.members.size === 0) {
    const { parsed } = draft.query;
    const plan = mergedPlan({ answer: parsed.kind, query: parsed.text, notes: draft.notes }, over);
    return excluding(madeOf(plan, parsed), draft);
  }
  const made = severalClauses(draft, task, true);
  return excluding({ ...made, plan: withMembers(made.plan, over) }, draft);
}

const severalClauses = (draft: Draft, task: PlanTask, keepsDataset = false) =>
  federatedPlan(hasNested(draft) ? lift(draft, task) : draft, keepsDataset);

const hasNested = ({ query, targets }: Draft): boolean =>
  query.services.some((clause) => clause.parent && targets.members.has(clause.element.from));

/** A SERVICE may mean several endpoints. */
const hasSeveral = (query: AnalysedQuery): boolean =>
  query.services.some(({ target }) => (target.kind === "variable" ? target.values : isKeyword(target.iri)));

/** The same query in a new text, analysed and checked afresh. */
function redraft(draft: Draft, text: string, task: PlanTask): Draft {
  if (text.length > rewrittenAtMost) {
    throw new FedwayError(
      "QUERY_TOO_LARGE",
      "The query becomes too large once its SERVICE variables and keywords are replaced.",
      { next: "Name fewer endpoints in VALUES." },
    );
  }
  const query = analyseQuery(parseQuery(text));
  return { ...draft, query, targets: serviceTargets(query, task) };
}

const note = (draft: Draft, code: PlanNote["code"], message: string): Draft => ({
  ...draft,
  notes: [...draft.notes, { code, message }],
});

/** FROM and the protocol's dataset describe the dataset of this service, which is empty. */
function datasetNotes(query: AnalysedQuery, { request, entry }: PlanTask): readonly PlanNote[] {
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

function homeless(query: AnalysedQuery, { context }: PlanTask, pattern: OutsidePattern | undefined): FedwayError {
  const where = pattern && placeOf(query.parsed, pattern);
  return serviceRequired(query.parsed, { where, homes: rankedHomes(query.parsed, context) }, context);
}

/** No endpoint takes part: evaluated over the empty dataset. */
function evaluatedHere(draft: Draft, task: PlanTask): MadePlan {
  const { query } = draft;
  const [pattern] = query.outside;
  if (pattern) throw outsideService(query, pattern);
  if (query.parsed.form === "DESCRIBE") throw homeless(query, task, undefined);
  // After a prune the note on that says why no endpoint is asked.
  const isPruned = draft.notes.some(({ code }) => code === "CLAUSES_LEFT_OUT");
  const none = "The query reads no data, so no endpoint was asked.";
  const noted = isPruned ? draft : note(draft, "EVALUATED_HERE", none);
  const text = query.datasets.length > 0 ? withoutDatasets(query) : query.parsed.text;
  const skeleton = withAbsoluteIris(text);
  const { notes } = noted;
  const plan = {
    kind: "federated",
    answer: query.parsed.kind,
    query: text,
    skeleton,
    clauses: [],
    members: [],
    notes,
  } as const;
  return madeOf(plan, query.parsed);
}

/** On `/sparql` a SERVICE inside GRAPH gives nothing, because our dataset has no named graph. */
function emptyGraphs(draft: Draft, task: PlanTask): Draft {
  if (task.entry || task.over || draft.query.serviceGraphs.length === 0) return draft;
  const message =
    "A SERVICE inside GRAPH gives no solution: this service's dataset has no named graph. Put GRAPH inside the SERVICE.";
  return note(redraft(draft, withEmptyGraphs(draft.query), task), "GRAPH_EMPTY", message);
}

/** Each round removes one nesting level of SERVICE variables and keywords. */
function expand(draft: Draft, task: PlanTask): Draft {
  let expanded = draft;
  const urlsOf = (iri: string) => (isKeyword(iri) ? withKeyword(iri, task.context).map(({ url }) => url) : undefined);
  for (let round = 0; round < 4 && hasSeveral(expanded.query); round++) {
    expanded = redraft(expanded, withExpandedTargets(expanded.query, urlsOf), task);
  }
  return expanded;
}

/** Without clauses that provably have no solution, and with those joined that one endpoint can join. */
function prune(draft: Draft, task: PlanTask): Draft {
  return [adaptedKeys, prunedClauses, colocatedClauses].reduce((before, step) => {
    const after = step(before, task);
    if (after === undefined) return before;
    const noted = note(redraft(before, after.text, task), after.note.code, after.note.message);
    return { ...noted, exclusions: before.exclusions ?? after.exclusions };
  }, draft);
}

/** URLs of all endpoints that take part; on an endpoint's route that one too, if patterns or a GRAPH outside belong to it. */
function endpointsOf(draft: Draft, task: PlanTask): Set<string> {
  const urls = new Set([...draft.targets.members.values()].map((endpoint) => endpoint.url));
  if (task.entry && hasOwnPart(draft)) urls.add(task.entry.url);
  return urls;
}

/** Patterns or a GRAPH outside of every SERVICE. */
const hasOwnPart = ({ query: { outside, serviceGraphs } }: Draft): boolean => outside.length + serviceGraphs.length > 0;

function oneEndpoint(draft: Draft, task: PlanTask): MadePlan {
  const { query, targets } = draft;
  const [outside] = query.outside;
  if (outside && task.request.strict && !task.entry) throw outsideService(query, outside);
  const inGraph = query.services.some(
    (clause) => targets.members.has(clause.element.from) && clause.inGraph !== "none",
  );
  if (inGraph) return toOneEndpoint(lift(draft, task), task);
  if (!outside || task.entry) return toOneEndpoint({ ...draft, sendsOutsidePatterns: outside !== undefined }, task);
  const message = "Patterns outside of the SERVICE were sent to its endpoint, too; strictly, they match nothing here.";
  return toOneEndpoint(note({ ...draft, sendsOutsidePatterns: true }, "PATTERN_SENT_ON", message), task);
}

/** The query for one endpoint, sent there or, when that does not speak SPARQL, evaluated here. */
function toOneEndpoint(draft: Draft, task: PlanTask): MadePlan {
  const made = directPlan(draft, task);
  if (!isMatchedHere(made.plan.endpoint)) return made;
  // Clauses that stay clauses are silenced one by one.
  return made.plan.silent ? severalClauses(draft, task) : { ...made, plan: evaluatedOver(made.plan) };
}

function severalEndpoints(draft: Draft, task: PlanTask): MadePlan {
  const { query } = draft;
  const [outside] = query.outside;
  if (outside && !task.entry) throw outsideService(query, outside);
  refuseLargeEvaluation(query.parsed.text, foldedTokens(query.parsed));
  if (query.parsed.form === "DESCRIBE") {
    throw new FedwayError(
      "SERVICE_REQUIRED",
      "DESCRIBE over several endpoints does not say which of them describes the resources.",
      {
        next: "Use CONSTRUCT { ?x ?p ?o } with a SERVICE for ?x ?p ?o, or one query for each endpoint.",
      },
    );
  }
  return federatedPlan(hasNested(draft) || hasOwnPart(draft) ? lift(draft, task) : draft);
}

/** Gives every pattern beside a SERVICE for another endpoint a SERVICE of its own. */
function lift(draft: Draft, task: PlanTask): Draft {
  const { query, targets } = draft;
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

function outsideService(query: AnalysedQuery, pattern: OutsidePattern): FedwayError {
  return new FedwayError(
    "PATTERN_OUTSIDE_SERVICE",
    "A pattern stands outside of every SERVICE, so no endpoint answers it.",
    {
      where: placeOf(query.parsed, pattern),
      next: "Move the pattern into the SERVICE of the endpoint that has its data.",
    },
  );
}
