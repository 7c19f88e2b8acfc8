import type { TokenRange } from "../../sparql/query.ts";
import { termsOf, type TripleText, type UsedTerm } from "../../sparql/patterns.ts";
import { atEndpoint, endpointOf, type Finding, type Inquiry, repairOf, shownPart, solvedBy } from "./inquiry.ts";
import { mending } from "./mending.ts";
import { type QueryPart, renderParts, withTriple, type Wrapper } from "./query-parts.ts";
import { answered, type Ground, mostNamed, none } from "./statements.ts";

/** Other endpoints that are tried for a part. */
const mostEndpoints = 4;
const fewEntries = 8;

/**
 * Finds an endpoint that is asked for another one's data: none of the patterns that it is sent has a solution there, it does
 * not even know their predicates and classes, and at another endpoint the query has solutions.
 */
export async function mistakenEndpoint(inquiry: Inquiry, empty: readonly QueryPart[]): Promise<Finding | undefined> {
  const sent = sentTogether(inquiry, empty);
  const [first] = sent;
  if (first === undefined || (await knowsAny(inquiry, sent))) return undefined;
  const wrapper = serviceWrapper(first);
  const others = otherEndpoints(inquiry, sent);
  const target = wrapper?.target;
  const found = target ? await serviceElsewhere(inquiry, target, others) : await homeElsewhere(inquiry, others);
  const [id] = found;
  if (id === undefined) return undefined;
  const named = sent.slice(0, mostNamed);
  const more = named.length > 1 ? ` and ${named.length - 1} more` : "";
  const grounds = named.flatMap((part) => [none([part]), none([generalised(part)])]);
  const solved: readonly Ground[] = target
    ? solvedBy(inquiry, moving(inquiry, target, id))
    : [answered({ group: renderParts(inquiry.parts), target: { endpointId: id } })];
  return {
    code: "EMPTY_ENDPOINT",
    claims: [
      {
        text: `${shownPart(first)}${more} has no solutions ${atEndpoint(inquiry, first)}, which has not even the terms`,
        grounds,
      },
      { text: `at ${id} the query has solutions`, grounds: solved },
    ],
    part: first,
    endpoints: found,
    repairs: target ? [repairOf(inquiry, "endpoint", [{ range: target, replacement: `<${id}>` }])] : [],
    suggestions: found.map((term, at) => ({ term, score: 1 - at / 10, why: "the query has solutions there" })),
    next: wrapper ? `Send this SERVICE to <${id}>.` : `Send the query to ${id}.`,
  };
}

/** The patterns of the first SERVICE, or outside of every one, that has solutions for none of its patterns. */
function sentTogether(inquiry: Inquiry, empty: readonly QueryPart[]): readonly QueryPart[] {
  const byService = Map.groupBy(
    inquiry.parts.filter(({ triple }) => triple !== undefined),
    (part) => serviceWrapper(part)?.range,
  );
  return (
    [...byService.values()]
      .map((parts) => parts.filter(hasTerm))
      .find((parts) => parts.length > 0 && parts.every((part) => empty.includes(part))) ?? []
  );
}

const hasTerm = (part: QueryPart): boolean => termOf(part) !== undefined;

const serviceWrapper = ({ wrappers }: QueryPart): Wrapper | undefined =>
  wrappers.find(({ service }) => service !== undefined);

/** The class or property of a pattern. */
export function termOf({ triple }: QueryPart): UsedTerm | undefined {
  const [predicate, object] = [triple?.predicate.term, triple?.object.term];
  return predicate && object && termsOf([{ predicate, object }])[0];
}

const variable = (name: string): TripleText["subject"] => ({ text: `?${name}`, term: { kind: "variable", name } });

/** The pattern with variables for all but its class or property. */
export function generalised(part: QueryPart): QueryPart {
  const { triple } = part;
  if (triple === undefined) return part;
  const object = termOf(part)?.kind === "class" ? triple.object : variable("fedwayObject");
  return withTriple(part, { subject: variable("fedwaySubject"), predicate: triple.predicate, object });
}

async function knowsAny({ prober }: Inquiry, parts: readonly QueryPart[]): Promise<boolean> {
  const has = await prober.anySolutions(parts.map((part) => renderParts([generalised(part)])));
  return has.some((known) => known !== false);
}

/** Ids, else URLs, of endpoints that may have what some patterns ask for; those of the query first. */
function otherEndpoints(inquiry: Inquiry, sent: readonly QueryPart[]): readonly string[] {
  const { parts, terms, catalog } = inquiry;
  const here = sent[0] && endpointOf(inquiry, sent[0]);
  const used = sent.flatMap((part) => termOf(part) ?? []);
  const ofQuery = parts.flatMap((part) => (serviceWrapper(part) ? (endpointOf(inquiry, part) ?? []) : []));
  const described = used.flatMap((term) => (terms ? [...terms.endpointsWith(term)] : []));
  const lacks = (id: string): boolean => used.some((term) => terms?.hasTerm(id, term) === "no");
  // In a small catalogue any may be meant that nothing is known of.
  const any = catalog.entries.length <= fewEntries ? catalog.entries.map(({ id }) => id) : [];
  const all = new Set([...ofQuery, ...described, ...any].filter((id) => id !== here && !lacks(id)));
  return [...all].slice(0, mostEndpoints);
}

async function serviceElsewhere(
  inquiry: Inquiry,
  range: TokenRange,
  others: readonly string[],
): Promise<readonly string[]> {
  const ways = others.map((id) => ({ id, edits: moving(inquiry, range, id) }));
  return (await mending(inquiry, ways)).map(({ id }) => id);
}

/** Edits that send a SERVICE to another endpoint. */
const moving = ({ catalog }: Inquiry, range: TokenRange, id: string) => [
  { range, replacement: `<${catalog.byId(id)?.url ?? id}>` },
];

async function homeElsewhere({ parts, prober }: Inquiry, others: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const id of others) {
    const [has] = await prober.anySolutions([renderParts(parts)], { endpointId: id });
    if (has === true) found.push(id);
  }
  return found;
}

/**
 * The finding with the endpoints that the part to blame is about, where all members of a federation are asked together: those
 * that have its class or property by their descriptions. The only one is the endpoint of the finding.
 */
export function namedMember(inquiry: Inquiry, finding: Finding): Finding {
  const { members, terms } = inquiry;
  const part = finding.fitting ?? finding.part;
  const term = part && termOf(part);
  if (part === undefined || term === undefined || members.length === 0 || endpointOf(inquiry, part) !== undefined)
    return finding;
  const having = members.filter((id) => terms?.hasTerm(id, term) === "yes");
  const [only] = having;
  return having.length === 1
    ? { ...finding, endpoint: only }
    : { ...finding, endpoints: having.length === 0 ? finding.endpoints : having.slice(0, 10) };
}
