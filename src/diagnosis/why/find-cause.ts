import type { Candidate, Variation } from "./vary-triple.ts";
import {
  candidateFinding,
  candidatesOf,
  hintsOf,
  isRepair,
  placeClaim,
  suggestionsOf,
  variationsOf,
} from "./vary-triple.ts";
import { atEndpoint, type Finding, type Inquiry, repairOf, shownPart, shownTerm } from "./inquiry.ts";
import { likeness } from "./alike.ts";
import { contradicted, coreOf } from "./core-of-parts.ts";
import { mending } from "./mending.ts";
import { explainJoin } from "./join-adapters.ts";
import { type QueryPart, renderParts, serviceOf } from "./query-parts.ts";
import { answered, mostNamed, none, some } from "./statements.ts";
import { prefixEdit } from "../check/unknown-terms.ts";
import { explainFilter } from "./vary-filter.ts";
import { mistakenEndpoint, termOf } from "./mistaken-endpoint.ts";
import { offeredValues } from "./try-offers.ts";

/** Called with each finding as soon as it is sure, so that a budget that runs out loses only what would have been better. */
type Note = (finding: Finding) => void;

/** A change more similar to the written text than this is offered as a repair. */
const goodEnough = 0.5;
/** One that is more like it than this is meant. */
const nearlySure = 0.85;
/** Subqueries in subqueries that are looked into. */
const deepest = 3;
/** Parts whose variations are asked together. */
const mostSuspects = 5;

/**
 * Why the parts of an inquiry have no solutions together; "solvable" when they have some, "unknown" when they cannot be asked.
 * @throws BudgetSpent; FedwayError `CANCELLED`
 */
export async function findCause(inquiry: Inquiry, note: Note, depth = 0): Promise<Finding | "solvable" | "unknown"> {
  const { parts, prober } = inquiry;
  const alone = parts.filter((part) => part.kind === "triple" || part.kind === "block");
  const clauses = clausesOf(parts);
  const groups = [parts, ...alone.map((part) => [part]), ...clauses, ...contradicted(inquiry).map(({ core }) => core)];
  const [whole, ...others] = await prober.anySolutions(groups.map(renderParts));
  if (whole !== false) return whole === true ? "solvable" : "unknown";
  const empty = alone.filter((_, at) => others[at] === false);
  const [one, ...more] = empty;
  const inside =
    more.length === 0 && depth < deepest
      ? await causeInside({ ...inquiry, parts: one?.inner ?? [] }, note, depth + 1)
      : undefined;
  if (inside) return inside;
  if (one) return blameEmpty(inquiry, [one, ...more], note);
  const clause = clauses.find((_, at) => others[alone.length + at] === false);
  if (clause) note(emptyClause(inquiry, clause));
  return blameTogether(inquiry, note);
}

/** Of a block that has no solutions: those of its parts that have none. */
async function causeInside(inquiry: Inquiry, note: Note, depth: number): Promise<Finding | undefined> {
  const cause = inquiry.parts.length > 0 ? await findCause(inquiry, note, depth) : undefined;
  return typeof cause === "object" ? cause : undefined;
}

function emptyClause(inquiry: Inquiry, clause: readonly QueryPart[]): Finding {
  const [part] = clause;
  const patterns = clause.filter(({ kind }) => kind === "triple" || kind === "block").slice(0, mostNamed);
  const text = part ? `The clause ${atEndpoint(inquiry, part)} has no solutions` : "";
  return {
    code: "EMPTY_PATTERN",
    claims: [
      { text, grounds: [none(clause)] },
      { text: "its patterns have some alone", grounds: patterns.map((each) => some([each])) },
    ],
    part,
  };
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
  note(emptyPattern(inquiry, first, rest));
  const mistaken = await mistakenEndpoint(inquiry, empty);
  if (mistaken) return mistaken;
  const suspects = empty.filter(({ triple }) => triple !== undefined).slice(0, mostSuspects);
  const best = await bestCandidates(inquiry, suspects, inquiry.parts);
  const candidate = best.find((each) => isRepair(each, empty));
  if (candidate && candidate.likeness.score >= goodEnough) return candidateFinding(inquiry, [candidate, ...best], true);
  const [suspect] = suspects;
  if (suspect === undefined) return emptyPattern(inquiry, first, rest);
  return rest.length === 0
    ? unlikely(inquiry, suspect, best)
    : blameSeveral(inquiry, [suspect, ...suspects.slice(1)], empty);
}

/** Several patterns that have no solutions alone: each is looked at beside those that have, then all changes together. */
async function blameSeveral(
  inquiry: Inquiry,
  suspects: readonly [QueryPart, ...QueryPart[]],
  empty: readonly QueryPart[],
): Promise<Finding> {
  const others = new Set(inquiry.parts.filter((part) => !empty.includes(part)));
  const findings: Finding[] = [];
  const moved: { readonly iri: string; readonly by: string }[] = [];
  for (const part of suspects) {
    const among = inquiry.parts.filter((other) => other === part || others.has(other));
    const best = await bestCandidates(inquiry, [part], among);
    const candidate = best.find((each) => isRepair(each, empty));
    const isLikely = candidate !== undefined && candidate.likeness.score >= goodEnough;
    findings.push(
      isLikely ? await candidateFinding(inquiry, [candidate, ...best], true) : await unlikely(inquiry, part, best),
    );
    if (!isLikely) continue;
    moved.push({ iri: candidate.variation.written?.value ?? "", by: candidate.found?.value ?? "" });
  }
  const [finding] = findings;
  const shown = emptyPattern(
    inquiry,
    suspects[0],
    empty.filter((part) => part !== suspects[0]),
  );
  const edits = new Map(findings.flatMap((each) => each.edits ?? []).map((edit) => [edit.range.from, edit]));
  const known = new Set([...others].flatMap((part) => termOf(part)?.iri ?? []));
  const prefix = prefixEdit(inquiry.query, moved, (iri) => known.has(iri));
  const changed = prefix ? [prefix] : [...edits.values()];
  const [way] = await mending(inquiry, [{ edits: changed }]);
  const repairs = way ? [repairOf(inquiry, "terms", way.edits)] : [];
  const next = way ? "Take the repair; the query then has solutions (checked)." : shown.next;
  return { ...shown, ...finding, claims: shown.claims, repairs, edits: changed, next };
}

function emptyPattern(inquiry: Inquiry, part: QueryPart, others: readonly QueryPart[] = []): Finding {
  const more = others.slice(0, mostNamed);
  const least = more.length < others.length ? "at least " : "";
  return {
    code: "EMPTY_PATTERN",
    claims: [
      {
        text: `${shownPart(part)} has no solutions ${atEndpoint(inquiry, part)}, not even alone`,
        grounds: [none([part])],
      },
      { text: `nor do ${least}${more.length} more of the patterns`, grounds: more.map((each) => none([each])) },
    ],
    part,
    next: "Compare the pattern with the schema of the endpoint.",
  };
}

/** Finding about a pattern without a similar alternative: the existing values without the rest, for the reader to choose. */
async function unlikely(inquiry: Inquiry, part: QueryPart, best: readonly Candidate[]): Promise<Finding> {
  const known = best.length > 0 ? best : await bestCandidates(inquiry, [part], [part]);
  const [first] = known;
  const place = first?.variation.place;
  const isTerm = place === "predicate" || place === "class";
  const other = isTerm ? undefined : await otherValues(inquiry, part, known);
  if (other) return other;
  return {
    code: first === undefined ? "EMPTY_PATTERN" : isTerm ? "EMPTY_TERM" : "EMPTY_VALUE",
    claims: [...emptyPattern(inquiry, part).claims, ...placeClaim(inquiry, first)],
    part,
    suggestions: suggestionsOf(known),
    next:
      known.length > 0 ? "Choose among the suggested terms." : "Compare the pattern with the schema of the endpoint.",
  };
}

/** Most values of a property that are shown whole. */
const fewValues = 12;

/** Of a literal that does not occur with a property of few values: all of them, none of which need be what was meant. */
async function otherValues(
  inquiry: Inquiry,
  part: QueryPart,
  known: readonly Candidate[],
): Promise<Finding | undefined> {
  const objects = variationsOf(part, [part]).filter(({ place }) => place === "object");
  const [all, written] = [objects.at(-1), objects.at(-1)?.written];
  if (all === undefined || written === undefined) return undefined;
  const wanted = { ...all.wanted, most: fewValues + 1 };
  const [values] = await inquiry.prober.terms([wanted]);
  if (values === undefined || values.length === 0 || values.length > fewValues) return undefined;
  const was = shownTerm(inquiry.query, written);
  const scored = values.map((found): Candidate => {
    const harvested = known.find((candidate) => candidate.found?.equals(found) === true);
    return harvested ?? { variation: all, found, likeness: likeness(written, found) };
  });
  return {
    code: "EMPTY_VALUE",
    claims: [
      { text: `${was} does not occur in ${shownPart(part)} ${atEndpoint(inquiry, part)}`, grounds: [none([part])] },
      {
        text: `all values there: ${values.map((value) => shownTerm(inquiry.query, value)).join(", ")}`,
        grounds: [answered(wanted)],
      },
    ],
    part,
    suggestions: suggestionsOf(
      scored.toSorted((left, right) => right.likeness.score - left.likeness.score),
      fewValues,
    ),
    next: `Perhaps there is no answer: there is nothing for ${was}. Another value asks another question.`,
  };
}

/** Parts of which each has solutions, but not all together. */
async function blameTogether(inquiry: Inquiry, note: Note): Promise<Finding> {
  const found = await coreOf(inquiry);
  const { core, needless } = found;
  if (core.length === 0) return undecided(inquiry);
  note(togetherEmpty(found));
  const suspects = core.filter(({ triple }) => triple !== undefined).slice(0, mostSuspects);
  const best = await bestCandidates(inquiry, suspects, inquiry.parts);
  const filter = core.find(({ kind }) => kind === "filter");
  // What a filter leaves out may be there in the other direction, and mean nothing.
  const candidate = best.find((each) => isRepair(each, []) && !(filter && each.found === undefined));
  const findingFrom = async (least: number): Promise<Finding | null> =>
    candidate && candidate.likeness.score >= least ? candidateFinding(inquiry, [candidate, ...best], false) : null;
  const sure = await findingFrom(nearlySure);
  if (sure) return sure;
  if (filter) return explainFilter(inquiry, filter, { isSole: needless.includes(filter), claims: found.claims });
  const likely = await findingFrom(goodEnough);
  // Between endpoints unlike keys are the likeliest mistake, and another class by chance; within one any other is.
  const isBetween = new Set(inquiry.parts.map(serviceOf)).size > 1;
  if (likely && !isBetween) return likely;
  const { finding, examples } = await explainJoin(inquiry, core);
  const shown = togetherEmpty(found);
  return (
    finding ??
    (candidate?.likeness.kind === "other" ? null : likely) ?? {
      ...shown,
      claims: [...shown.claims, ...examples],
      suggestions: suggestionsOf(best),
    }
  );
}

function togetherEmpty({ core, claims }: Awaited<ReturnType<typeof coreOf>>): Finding {
  const last = core.at(-1);
  return {
    code: last?.kind === "filter" ? "EMPTY_FILTER" : "EMPTY_JOIN",
    claims,
    part: last,
    next: "Compare the values that join these patterns.",
  };
}

const undecided = ({ prober, parts }: Inquiry): Finding => ({
  code: "EMPTY_UNDECIDED",
  claims: [{ text: "The patterns have no solutions together", grounds: [none(parts)] }],
  remark: `Which of them exclude each other could not be asked in ${prober.asked} questions.`,
  next: "Ask parts of the query alone, beginning with the pattern that has the fewest solutions.",
});

/** Best candidates from the parts' variations; where none is likely, also the values that the check offers. */
async function bestCandidates(
  inquiry: Inquiry,
  suspects: readonly QueryPart[],
  among: readonly QueryPart[],
): Promise<readonly Candidate[]> {
  const variations: readonly Variation[] = suspects.flatMap((part) => variationsOf(part, among));
  const found = await inquiry.prober.terms(variations.map(({ wanted }) => wanted));
  const best = variations
    .flatMap((variation, at) => candidatesOf(variation, found[at], hintsOf(variation)))
    .toSorted((left, right) => right.likeness.score - left.likeness.score);
  const isLikely = best.some((candidate) => candidate.likeness.score >= goodEnough && isRepair(candidate, suspects));
  return isLikely || among !== inquiry.parts ? best : [...(await offeredValues(inquiry, suspects)), ...best];
}
