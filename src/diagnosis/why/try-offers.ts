import type { ErrorCode } from "../../errors/codes.ts";
import { nodeFromIri, termFromText } from "../../results/terms.ts";
import { type TokenRange, parsedIfLegal } from "../../sparql/query.ts";
import { editsOf, likelyScore, type Offer } from "../check/query-scope.ts";
import type { UnknownTerm } from "../check/unknown-terms.ts";
import type { UsedTerm } from "../../sparql/patterns.ts";
import { likeness } from "./alike.ts";
import {
  atEndpoint,
  endpointOf,
  type Finding,
  type Inquiry,
  repairOf,
  shownPart,
  shownTerm,
  solvedBy,
} from "./inquiry.ts";
import { generalised, termOf } from "./mistaken-endpoint.ts";
import { partsOf, type QueryPart } from "./query-parts.ts";
import { type Claim, none } from "./statements.ts";
import { mending, mendingBeside } from "./mending.ts";
import { type Candidate, variationsOf } from "./vary-triple.ts";

/** Offers that are tried together. */
const mostTried = 6;
/** Changes of which several may be meant: which of those have solutions is worth a question. */
const meantAlike: ReadonlySet<string> = new Set(["class", "property", "node-skipped"]);
/** Of those, repairs that are shown. */
const mostChoices = 3;

/** A finding with the change that the check offers for it. */
export type Trial = Finding & { readonly edits: Offer["edits"] };

/**
 * Offers of the check that may be repairs, best first: its likely offers together, then each alone. Another value asks another
 * question; a merely possible offer has solutions by chance. Asks nothing.
 */
export function trialsOf(inquiry: Inquiry): readonly Trial[] {
  const { offers } = inquiry.known;
  const likely = offers.filter(({ repair, score }) => repair.kind !== "value" && score >= likelyScore);
  const alike = offers.filter(({ repair, score }) => meantAlike.has(repair.kind) && score < likelyScore);
  const [first] = likely;
  const edits = editsOf(likely);
  const together = first && edits.length > first.edits.length ? [{ ...first, edits }] : [];
  return [...together, ...likely, ...alike].slice(0, mostTried).flatMap((offer) => trialOf(inquiry, offer) ?? []);
}

/** Finding that descriptions alone prove. */
export function lackOf(inquiry: Inquiry, [first]: readonly Trial[]): Finding | undefined {
  const part = lackingPart(inquiry);
  if (first === undefined || part === undefined) return undefined;
  inquiry.prober.describe([none([part]), none([generalised(part)])].map(({ question }) => question));
  return { ...first, repairs: [] };
}

function trialOf(inquiry: Inquiry, { repair, edits, why }: Offer): Trial | undefined {
  const { parts, query } = inquiry;
  const part = lackingPart(inquiry) ?? parts.find((each) => isChanged(each, edits));
  if (part === undefined) return undefined;
  const { kind, before, after } = repair;
  const [change, next] =
    before === ""
      ? [`${after} added`, `Add ${after}`]
      : [`${after} instead of ${before}`, `Replace ${before} by ${after}`];
  const { term, elsewhere = [], nearest } = lackAt(inquiry, part);
  const empty = `${shownPart(part)} has no solutions ${atEndpoint(inquiry, part)}`;
  const claims: readonly Claim[] = term
    ? [
        {
          text: `${empty}, which has no ${term.kind} ${shownTerm(inquiry.query, nodeFromIri(term.iri))}`,
          grounds: [none([part]), none([generalised(part)])],
        },
      ]
    : [
        { text: `${empty} with the rest of the query`, grounds: [none(parts)] },
        { text: `with ${change} the query has some (${why})`, grounds: solvedBy(inquiry, edits) },
      ];
  const changed = parsedIfLegal(query.cut(edits));
  return {
    code: codeOf(kind, part),
    claims,
    part,
    fitting: changed && partsOf(changed)[parts.indexOf(part)],
    endpoints: elsewhere.length > 0 ? elsewhere : undefined,
    repairs: [repairOf(inquiry, kind, edits)],
    edits,
    suggestions: nearest,
    next: `${next}; the query then has solutions (checked).`,
  };
}

function lackAt(inquiry: Inquiry, part: QueryPart): Partial<UnknownTerm> & { readonly term?: UsedTerm | undefined } {
  if (!isLacking(inquiry, part)) return {};
  const term = termOf(part);
  return { ...inquiry.known.unknown.find(({ iri }) => iri === term?.iri), term };
}

function codeOf(kind: string, part: QueryPart): ErrorCode {
  if (kind.startsWith("service-")) return "EMPTY_ENDPOINT";
  if (kind === "direction-reversed") return "EMPTY_DIRECTION";
  if (kind !== "datatype" && kind !== "language") return "EMPTY_TERM";
  return part.kind === "filter" ? "EMPTY_FILTER" : "EMPTY_VALUE";
}

const isChanged = ({ range, wrappers }: QueryPart, edits: Offer["edits"]): boolean =>
  edits.some((edit) => isWithin(edit.range, range) || wrappers.some(({ target }) => target?.from === edit.range.from));

const isWithin = (inner: TokenRange, outer: TokenRange): boolean => outer.from <= inner.from && inner.to <= outer.to;

/** A part whose class or property none of its endpoints has, by complete descriptions. */
const lackingPart = (inquiry: Inquiry): QueryPart | undefined => inquiry.parts.find((part) => isLacking(inquiry, part));

function isLacking(inquiry: Inquiry, part: QueryPart): boolean {
  const { terms, members } = inquiry;
  const [term, own] = [termOf(part), endpointOf(inquiry, part)];
  const ids = own === undefined ? members : [own];
  return term !== undefined && ids.length > 0 && ids.every((id) => terms?.hasTerm(id, term) === "no");
}

/**
 * The first of some trials with which the query has solutions. What lacks a term is asked of everybody; where facts say so
 * wrongly they decide nothing more. Undefined where no trial helps: then the parts are looked into. @throws BudgetSpent
 */
export async function firstThatHelps(inquiry: Inquiry, trials: readonly Trial[]): Promise<Finding | undefined> {
  const { prober, parts } = inquiry;
  if (trials.length === 0) return undefined;
  const lacking = lackingPart(inquiry);
  prober.prune = lacking === undefined;
  const beside = lacking ? [parts, [lacking], [generalised(lacking)]] : [parts];
  const { own, helping } = await mendingBeside(inquiry, beside, trials);
  prober.prune = lacking === undefined || !own.has(true);
  if (own.has(true)) return undefined;
  if (own.has(undefined)) return lackOf(inquiry, trials);
  return choiceOf(helping);
}

/** The first of the trials that help, with the others where it is not certain which is meant. */
function choiceOf(helping: readonly Trial[]): Finding | undefined {
  const [best] = helping;
  const isAlike = ({ repairs: [repair] = [] }: Trial): boolean => meantAlike.has(repair?.kind ?? "");
  const alike = helping.filter(isAlike).slice(0, mostChoices);
  if (best === undefined || !isAlike(best) || alike.length < 2) return best;
  const repairs = alike.flatMap((each) => each.repairs ?? []);
  const choices = repairs.map(({ before, after }) => `${before} by ${after}`).join(", or ");
  return { ...best, repairs, next: `Either replace ${choices}; each then has solutions (checked).` };
}

/** Values that the check offers for constants of some patterns, and with which the query has solutions. @throws BudgetSpent */
export async function offeredValues(inquiry: Inquiry, suspects: readonly QueryPart[]): Promise<readonly Candidate[]> {
  const values = inquiry.known.offers.filter(({ repair }) => repair.kind === "value");
  const candidates = suspects.flatMap((part) => {
    const variation = variationsOf(part, inquiry.parts).find(({ place }) => place === "object");
    const { range, written } = variation ?? {};
    if (variation === undefined || range === undefined || written === undefined) return [];
    const own = values.filter(({ edits: [edit] }) => edit?.range.from === range.from);
    return own.map(({ repair, edits }) => {
      const found = termFromText(repair.after);
      const { kind, score } = likeness(written, found);
      const alike = { kind: kind === "other" ? "words" : kind, score: Math.max(0.5, score) } as const;
      return { variation, found, likeness: alike, edits };
    });
  });
  const helping = await mending(inquiry, candidates);
  return helping.toSorted((left, right) => right.likeness.score - left.likeness.score);
}
