import { nodeFromIri } from "../../results/terms.ts";
import { editText } from "../../sparql/edit-text.ts";
import { parsedIfLegal } from "../../plan/fill-prefixes.ts";
import type { QueryCheck } from "../check/query-check.ts";
import type { EmptyQuery } from "./explainer.ts";
import {
  atEndpoint,
  describedBy,
  endpointOf,
  type EvidentFinding,
  type Finding,
  type Inquiry,
  repairOf,
  shownPart,
  shownTerm,
} from "./inquiry.ts";
import { termOf } from "./mistaken-endpoint.ts";
import { headOf, partsOf, type QueryPart, renderParts } from "./query-parts.ts";

interface Asking {
  readonly asked: EmptyQuery;
  readonly check?: QueryCheck["check"] | undefined;
  readonly signal: AbortSignal;
}

/** A pattern whose class or property none of its endpoints has by complete descriptions, with what the check suggests. Asks nothing. */
export async function knownLack(inquiry: Inquiry, { asked, check, signal }: Asking): Promise<Finding | undefined> {
  const part = inquiry.parts.find((each) => isLacking(inquiry, each));
  const term = part && termOf(part);
  if (check === undefined || part === undefined || term === undefined) return undefined;
  const { unknown, repairs, edits = [], next } = await check({ ...asked, owner: "" }, { signal });
  const lacking = unknown.find(({ iri, kind }) => iri === term.iri && kind === term.kind);
  if (lacking === undefined || edits.length === 0) return undefined;
  const kind = repairs.find(({ applied }) => !applied)?.kind ?? "terms";
  const name = shownTerm(inquiry, nodeFromIri(term.iri));
  return {
    code: kind.startsWith("service-") ? "EMPTY_ENDPOINT" : "EMPTY_TERM",
    message: `${shownPart(part)} has no solutions ${atEndpoint(inquiry, part)}, which has no ${term.kind} ${name}`,
    part,
    endpoints: lacking.elsewhere.length > 0 ? lacking.elsewhere : undefined,
    repairs: [repairOf(inquiry, kind, edits)],
    edits,
    suggestions: lacking.nearest,
    next,
  };
}

function isLacking(inquiry: Inquiry, part: QueryPart): boolean {
  const { terms, members } = inquiry;
  const [term, own] = [termOf(part), endpointOf(inquiry, part)];
  const ids = own === undefined ? members : [own];
  return term !== undefined && ids.length > 0 && ids.every((id) => terms?.hasTerm(id, term) === "no");
}

/**
 * What is known and what the check suggests, asked of everybody in one question, or two where a prefix changes; undefined where
 * the facts are outdated, or the suggestion has no solutions either: then the parts are looked into. @throws BudgetSpent
 */
export async function verifiedLack(inquiry: Inquiry, finding: Finding): Promise<EvidentFinding | undefined> {
  const { prober, query, parts } = inquiry;
  const { part, edits = [] } = finding;
  const suggested = parsedIfLegal(editText(query, edits));
  if (part === undefined || suggested === undefined) return undefined;
  const { prologue, dataset } = headOf(suggested);
  const [whole, alone, mended] = [parts, [part], partsOf(suggested)].map(renderParts);
  const isAlike = prologue === headOf(query).prologue;
  prober.prune = false;
  const asked = [whole, alone, isAlike ? mended : undefined].filter((group) => group !== undefined);
  const [isWhole, isAlone, isMended] = await prober.anySolutions(asked);
  prober.prune = isWhole !== true && isAlone !== true;
  if (!prober.prune) return undefined;
  if (isWhole === undefined || isAlone === undefined)
    return { finding: { ...finding, repairs: [] }, evidence: describedBy(inquiry, finding) };
  const hasRows = async (): Promise<boolean> =>
    (await prober.rows(`${prologue}SELECT * ${dataset} WHERE { ${mended} } LIMIT 1`, 1))?.length === 1;
  const hasAnswer = isAlike ? isMended === true : await hasRows();
  return hasAnswer ? { finding, evidence: { kind: "asked" } } : undefined;
}
