import type { Candidate, Variation } from "./vary-triple.ts";
import { candidateFinding, candidatesOf, hintsOf, suggestionsOf, variationsOf } from "./vary-triple.ts";
import { atEndpoint, type Finding, type Inquiry, shownPart } from "./inquiry.ts";
import { explainJoin } from "./join-adapters.ts";
import { type QueryPart, renderParts } from "./query-parts.ts";
import { explainFilter } from "./vary-filter.ts";
import { mistakenEndpoint } from "./mistaken-endpoint.ts";

/** Told of each finding as soon as it is sure, so that a budget that runs out loses only what would have been better. */
type Note = (finding: Finding) => void;

/** A change that is more like what is written than this is offered as a repair. */
const goodEnough = 0.5;
/** One that is more like it than this is meant. */
const nearlySure = 0.85;
/** Parts whose variations are asked together. */
const mostSuspects = 5;

/**
 * Why the parts of an inquiry have no solutions together; "solvable" when they have some, "unknown" when they cannot be asked.
 * @throws BudgetSpent; FedwayError `CANCELLED`
 */
export async function findCause(inquiry: Inquiry, note: Note): Promise<Finding | "solvable" | "unknown"> {
  const { parts, prober } = inquiry;
  const alone = parts.filter((part) => part.kind === "triple" || part.kind === "block");
  const clauses = clausesOf(parts);
  const groups = [parts, ...alone.map((part) => [part]), ...clauses];
  const [whole, ...others] = await prober.anySolutions(groups.map(renderParts));
  if (whole !== false) return whole === true ? "solvable" : "unknown";
  const empty = alone.filter((_, at) => others[at] === false);
  const [one, ...more] = empty;
  if (one) return blameEmpty(inquiry, [one, ...more], note);
  const emptyClause = clauses.find((_, at) => others[alone.length + at] === false);
  if (emptyClause) {
    const [first] = emptyClause;
    const message = `The clause ${first && atEndpoint(inquiry, first)} has no solutions, though each of its patterns has.`;
    note({ code: "EMPTY_PATTERN", message, part: first, repairs: [], suggestions: [] });
  }
  return blameTogether(inquiry, note);
}

/** The parts of each SERVICE that has several. */
function clausesOf(parts: readonly QueryPart[]): readonly (readonly QueryPart[])[] {
  const byService = Map.groupBy(parts, ({ wrappers }) => wrappers.find(({ service }) => service !== undefined));
  return [...byService].flatMap(([wrapper, own]) => (wrapper && own.length > 1 && byService.size > 1 ? [own] : []));
}

/** Patterns that have no solutions alone: each is looked at among those that have. */
async function blameEmpty(
  inquiry: Inquiry,
  [first, ...rest]: readonly [QueryPart, ...QueryPart[]],
  note: Note,
): Promise<Finding> {
  const empty = [first, ...rest];
  note(emptyPattern(inquiry, first, rest.length));
  const mistaken = await mistakenEndpoint(inquiry, empty);
  if (mistaken) return mistaken;
  let all: Finding | undefined;
  for (const part of empty.filter(({ triple }) => triple !== undefined).slice(0, mostSuspects)) {
    const finding = await blameAlone(inquiry, part, empty);
    all = all ? { ...all, repairs: [...all.repairs, ...finding.repairs] } : finding;
    note(all);
  }
  if (all === undefined || rest.length === 0) return all ?? emptyPattern(inquiry, first, rest.length);
  const message = `${all.message} ${empty.length} patterns have no solutions by themselves.`;
  const next = `Make all ${all.repairs.length} repairs: each mends one of the patterns.`;
  return { ...all, message, ...(all.repairs.length > 1 && { next }) };
}

/** What is wrong with a pattern that has no solutions alone. */
async function blameAlone(inquiry: Inquiry, part: QueryPart, empty: readonly QueryPart[]): Promise<Finding> {
  const among = inquiry.parts.filter((other) => other === part || !empty.includes(other));
  const best = await bestCandidates(inquiry, [part], among);
  const [first] = best;
  if (first && first.likeness.score >= goodEnough) return candidateFinding(inquiry, first, best);
  return unlikely(inquiry, part, best);
}

function emptyPattern(inquiry: Inquiry, part: QueryPart, more: number): Finding {
  const others = more > 0 ? ` Nor do ${more} more of the patterns.` : "";
  const message = `${shownPart(part)} has no solutions ${atEndpoint(inquiry, part)}, not even by itself.${others}`;
  return {
    code: "EMPTY_PATTERN",
    message,
    part,
    repairs: [],
    suggestions: [],
    next: "Compare the pattern with the schema of the endpoint.",
  };
}

/** What to say of a pattern for which nothing alike was found: what there is by itself, for the reader to choose. */
async function unlikely(inquiry: Inquiry, part: QueryPart, best: readonly Candidate[]): Promise<Finding> {
  const known = best.length > 0 ? best : await bestCandidates(inquiry, [part], [part]);
  const [first] = known;
  const place = first?.variation.place;
  const isTerm = place === "predicate" || place === "class";
  return {
    code: first === undefined ? "EMPTY_PATTERN" : isTerm ? "EMPTY_TERM" : "EMPTY_VALUE",
    message: emptyPattern(inquiry, part, 0).message,
    part,
    repairs: [],
    suggestions: suggestionsOf(known),
    next:
      known.length > 0
        ? "Choose among the suggested terms, which do occur there, or leave the pattern out."
        : "Compare the pattern with the schema of the endpoint, or leave it out.",
  };
}

/** Parts of which each has solutions, but not all together. */
async function blameTogether(inquiry: Inquiry, note: Note): Promise<Finding> {
  const { parts, prober } = inquiry;
  const filters = parts.filter(({ kind }) => kind === "filter");
  const removable = parts.filter(({ kind }) => kind !== "optional" && kind !== "bind");
  const groups = [parts.filter(({ kind }) => kind !== "filter"), ...removable.map((part) => without(parts, part))];
  const [unfiltered, ...left] = await prober.anySolutions(groups.map(renderParts));
  let core = removable.filter((_, at) => left[at] === true);
  if (core.length === 0 && unfiltered === true)
    core = await firstFailing(
      inquiry,
      parts.filter(({ kind }) => kind !== "filter"),
      filters,
    );
  if (core.length === 0)
    core = await firstFailing(
      inquiry,
      [],
      parts.filter(({ kind }) => kind !== "filter"),
    );
  if (core.length === 0) return undecided(inquiry);
  note(togetherEmpty(core));
  const suspects = core.filter(({ triple }) => triple !== undefined).slice(0, mostSuspects);
  const best = await bestCandidates(inquiry, suspects, parts);
  const [candidate] = best;
  if (candidate && candidate.likeness.score >= nearlySure) return candidateFinding(inquiry, candidate, best);
  const filter = core.find(({ kind }) => kind === "filter");
  if (filter) return explainFilter(inquiry, filter);
  const unlike = await explainJoin(inquiry, core);
  if (unlike) return unlike;
  if (candidate && candidate.likeness.score >= goodEnough) return candidateFinding(inquiry, candidate, best);
  const finding = togetherEmpty(core);
  return { ...finding, suggestions: suggestionsOf(best) };
}

/** All parts but one, and but the filters that need what only that one binds. */
function without(parts: readonly QueryPart[], part: QueryPart): readonly QueryPart[] {
  const rest = parts.filter((other) => other !== part);
  const bound = new Set(rest.flatMap(({ kind, variables }) => (kind === "filter" ? [] : [...variables])));
  const lost = [...part.variables].filter((name) => !bound.has(name));
  return rest.filter(({ kind, variables }) => kind !== "filter" || !lost.some((name) => variables.has(name)));
}

/**
 * The first part with which those before it have no solutions, found by halving: more parts never have more solutions. Empty
 * when it cannot be told.
 */
async function firstFailing(
  { prober }: Inquiry,
  given: readonly QueryPart[],
  growing: readonly QueryPart[],
): Promise<QueryPart[]> {
  const inOrder = (count: number): string =>
    renderParts([...given, ...growing.slice(0, count)].toSorted((left, right) => left.range.from - right.range.from));
  let [low, high] = [0, growing.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const [has] = await prober.anySolutions([inOrder(middle)]);
    if (has === undefined) return [];
    if (has) low = middle;
    else high = middle;
  }
  const failing = growing[high - 1];
  return failing === undefined ? [] : [failing];
}

function togetherEmpty(core: readonly QueryPart[]): Finding {
  const last = core.at(-1);
  const names = core.slice(0, 3).map(shownPart).join("  and  ");
  const isAlone = core.length === 1;
  return {
    code: last?.kind === "filter" ? "EMPTY_FILTER" : "EMPTY_JOIN",
    message: isAlone
      ? `The query has no solutions because of ${names}, though it has some by itself.`
      : `These have no solutions together, though the query has some without any one of them: ${names}`,
    part: last,
    repairs: [],
    suggestions: [],
    next: "Check the values that join these patterns, or leave one of them out.",
  };
}

const undecided = (inquiry: Inquiry): Finding => ({
  code: "EMPTY_UNDECIDED",
  message: `Each part of the query has solutions by itself; which of them exclude each other could not be asked in ${inquiry.prober.asked} questions.`,
  repairs: [],
  suggestions: [],
  next: "Ask parts of the query by themselves, beginning with the pattern that has the fewest solutions.",
});

/** What some parts' variations find, best first. */
async function bestCandidates(
  { prober }: Inquiry,
  suspects: readonly QueryPart[],
  among: readonly QueryPart[],
): Promise<readonly Candidate[]> {
  const variations: readonly Variation[] = suspects.flatMap((part) => variationsOf(part, among));
  const found = await prober.terms(variations.map(({ wanted }) => wanted));
  return variations
    .flatMap((variation, at) => candidatesOf(variation, found[at], hintsOf(variation)))
    .toSorted((left, right) => right.likeness.score - left.likeness.score);
}
