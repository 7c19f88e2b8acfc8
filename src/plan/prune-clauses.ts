import { type Query, type ServiceElement, colocateClauses } from "../sparql/query.ts";
import { type UsedTerm } from "../sparql/patterns.ts";
import { withoutEmptyClauses } from "./empty-clauses.ts";
import type { Draft } from "./decide-plan.ts";
import { lackOf } from "./known-terms.ts";
import type { KnownSources, KnownTerms, PlanTask } from "./plan-request.ts";
import { lateNote, type PlanNote } from "./query-plan.ts";
import { isOpenTarget } from "./service-targets.ts";
import { allExclusions, type Certificate, type Exclusions } from "./source-selection.ts";

/** A query after a step of planning, with notes for the reader. */
export interface NotedText {
  readonly text: string;
  readonly note: PlanNote;
  readonly exclusions?: Exclusions | undefined;
}

/**
 * The text of a query without the SERVICE clauses that provably have no solution at their endpoints, and the note that says so;
 * undefined when there are none. Patterns outside of every SERVICE must not come to the endpoint that is left, which would
 * give them another meaning: on `/sparql` a query with such patterns stays as it is. So does DESCRIBE: which endpoints are
 * left says what the description is made of. A single clause stays, too, unless facts are trusted: asking whether it has solutions
 * costs as much as asking for them.
 */
export function prunedClauses(draft: Draft): NotedText | undefined {
  const { query, task } = draft;
  const sources = sourcesFor(query, task);
  if (sources === undefined || query.form === "DESCRIBE") return undefined;
  const clauses = askedClauses(draft);
  const isTrusted = task.request.prune === "trust";
  if (clauses.length < 2 && !isTrusted) return undefined;
  const ask = new Set(task.request.ask);
  const reasons = sources.emptyClauses(clauses);
  const empty = new Map<ServiceElement, LeftOut>();
  const exclusions: Exclusions[] = [];
  for (const [index, { element, endpoint, body }] of clauses.entries()) {
    const reason = reasons[index];
    const { id, url } = endpoint;
    if (reason === undefined || ask.has(id ?? "")) continue;
    const { certificate, patterns, seenAt } = reason;
    const terms = body.usedTerms.flatMap((each) => each.terms);
    empty.set(element, { id, name: id ?? url, terms, certificate });
    exclusions.push({ list: [{ endpoint, patterns, seenAt }], decisive: true });
  }
  if (empty.size === 0) return undefined;
  return {
    text: withoutEmptyClauses(query, (service) => empty.has(service)),
    note: leftOutNote(
      [...empty.values()],
      clauses.map(({ endpoint }) => endpoint.id),
      { terms: task.context.terms, prologue: query.prologue },
    ),
    exclusions: isTrusted ? undefined : allExclusions(exclusions),
  };
}

/** The clauses for known endpoints, each as a query of its own. */
function askedClauses({ query: { services }, targets }: Draft) {
  return services.flatMap(({ element, body }) => {
    const endpoint = targets.members.get(element.from);
    return endpoint === undefined || isOpenTarget(endpoint) ? [] : [{ element, endpoint, body }];
  });
}

interface LeftOut {
  readonly id: string | undefined;
  readonly name: string;
  readonly terms: readonly UsedTerm[];
  readonly certificate: Certificate;
}

/** Known facts about the endpoints, unless they must not decide which of them are asked. */
function sourcesFor({ outside }: Query, { context, request, entry, over }: PlanTask): KnownSources | undefined {
  const isAnchored = outside.length === 0 || entry !== undefined || over !== undefined;
  return isAnchored && request.prune !== false ? context.sources : undefined;
}

/** The text of a query whose SERVICE clauses about one subject are joined by the endpoints that hold all of its triples. */
export function colocatedClauses({ query, targets, task }: Draft): NotedText | undefined {
  const sources = sourcesFor(query, task);
  if (sources === undefined) return undefined;
  const partitions = new Map<string, string | undefined>();
  for (const endpoint of targets.members.values()) {
    if (!isOpenTarget(endpoint)) partitions.set(endpoint.url, sources.subjectPartition(endpoint));
  }
  if (![...partitions.values()].some((partition) => partition !== undefined)) return undefined;
  const { text, joined } = colocateClauses(query, {
    urlOf(service) {
      const endpoint = targets.members.get(service.from);
      return endpoint === undefined || isOpenTarget(endpoint) ? undefined : endpoint.url;
    },
    areDisjoint(url, other) {
      const partition = partitions.get(url);
      return partition !== undefined && partition === partitions.get(other);
    },
  });
  if (joined === 0) return undefined;
  const [clauses, them] = joined === 1 ? ["1 clause was", "it"] : [`${joined} clauses were`, "them"];
  const message = `${clauses} merged with others about the same subject, because these shards never split a subject. prune=false sends ${them} separately.`;
  return { text, note: { code: "CLAUSES_COLOCATED", message } };
}

/** Reasons that are named one by one. */
const namedAtMost = 5;

const lacking: Readonly<Record<Certificate["kind"], string>> = {
  properties: "lacks its property",
  classes: "lacks its class",
  triples: "lacks its subject or object",
  partition: "has no match",
  asked: "has no match",
  unnamed: "is not described with it",
};

interface Wording {
  readonly terms: KnownTerms | undefined;
  readonly prologue: Query["prologue"];
}

const leftOutNote = (
  leftOut: readonly LeftOut[],
  clauses: readonly (string | undefined)[],
  wording: Wording,
): PlanNote => lateNote("CLAUSES_LEFT_OUT", () => leftOutText(leftOut, clauses, wording));

/** Which clauses are not asked, and why: an endpoint may lack a term of its clause, and another be meant. */
function leftOutText(
  leftOut: readonly LeftOut[],
  clauses: readonly (string | undefined)[],
  { terms, prologue }: Wording,
): string {
  const reasons = new Map<string, () => string>();
  for (const { id, terms: used, name, certificate } of leftOut) {
    const term = used.find((each) => id !== undefined && terms?.hasTerm(id, each) === "no");
    if (terms && term && id !== undefined) {
      const { lack, meant } = lackOf(term, { ids: [id], prologue, terms });
      // Of several endpoints some need not have what others have.
      const isElsewhere = clauses.some((other) => other !== undefined && terms.hasTerm(other, term) === "yes");
      reasons.set(lack, isElsewhere ? () => "" : meant);
    } else reasons.set(`\`${name}\` ${lacking[certificate.kind]}`, () => "");
  }
  const told = [...reasons].slice(0, namedAtMost);
  const meant = [...new Set(told.map(([, each]) => each()))].join("");
  const more = reasons.size > namedAtMost ? `, and ${reasons.size - namedAtMost} more` : "";
  const all = clauses.length === 1 ? "" : `${leftOut.length} of ${clauses.length} SERVICE clauses, as `;
  const why = told.map(([lack]) => lack).join(", ");
  return `Not asked: ${all}${why}${more}.${meant} (\`prune=false\` asks anyway.)`;
}
