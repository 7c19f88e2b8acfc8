import type { RetrievalLog } from "./retrieval-log.ts";
import { written } from "../describe/iri-text.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import type { VoidDescription } from "./void-description.ts";
import { wholeNumberOf } from "./read-values.ts";

/** One claim of a description, held against the data. */
export interface SpotCheck {
  /** What was checked, e.g. `class <http://...>`. */
  readonly claim: string;
  /** "unchecked": no answer came that says either. */
  readonly verdict: "confirmed" | "contradicted" | "unchecked";
  /** What the data say instead. */
  readonly found?: string;
}

type Claims = Pick<VoidDescription, "triples" | "classPartitions" | "propertyPartitions">;

/** A count may be off by a quarter, or by five: data grow after they were described. */
const tolerance = 0.25;
const slack = 5;

const isClose = (claimedValue: number, actual: number): boolean =>
  actual > 0 && Math.abs(claimedValue - actual) <= Math.max(tolerance * Math.max(claimedValue, actual), slack);

const anywhere = (pattern: string): string => `{ ${pattern} } UNION { GRAPH ?g { ${pattern} } }`;

/** Checks up to three claims: the largest class, the largest property, the smallest count. Without claims: none. */
export async function spotCheck(log: RetrievalLog, claims: Claims): Promise<readonly SpotCheck[]> {
  const checks: SpotCheck[] = [];
  const [largest] = claims.classPartitions;
  const property = claims.propertyPartitions[0] ?? largest?.properties[0];
  const type = written(rdf.type);
  if (largest !== undefined) {
    checks.push(await existence(log, `class <${largest.class}>`, `?s ${type} ${written(largest.class)}`));
  }
  if (property !== undefined) {
    checks.push(await existence(log, `property <${property.property}>`, `?s ${written(property.property)} ?o`));
  }
  const count = smallestCount(claims);
  if (count !== undefined) checks.push(await counted(log, count));
  return checks;
}

/** What the checks say of the whole: one contradiction is enough, and at least one claim must be confirmed. */
export function verdictOf(checks: readonly SpotCheck[]): { readonly trusted: boolean; readonly reason?: string } {
  const wrong = checks.find(({ verdict }) => verdict === "contradicted");
  if (wrong !== undefined) {
    return { trusted: false, reason: `The data contradict it: ${wrong.claim}, found ${wrong.found ?? "otherwise"}.` };
  }
  if (checks.length > 0 && !checks.some(({ verdict }) => verdict === "confirmed")) {
    return { trusted: false, reason: "None of its claims could be checked." };
  }
  return { trusted: true };
}

async function existence(log: RetrievalLog, claim: string, pattern: string): Promise<SpotCheck> {
  const answer = await log.ask(`ASK { ${anywhere(pattern)} }`);
  const value = answer?.value.boolean;
  if (value === true) return { claim, verdict: "confirmed" };
  // A time-out or row limit that the endpoint hides behind "false" is possible, but then its answers cannot be used either.
  if (value === false && answer?.value.partial === undefined) return { claim, verdict: "contradicted", found: "none" };
  return { claim, verdict: "unchecked" };
}

/** A count and the query that counts it. */
interface CountClaim {
  readonly claim: string;
  readonly value: number;
  readonly query: string;
}

function smallestCount({ classPartitions, propertyPartitions, triples }: Claims): CountClaim | undefined {
  const classes = classPartitions.flatMap(({ class: iri, entities }) =>
    entities === undefined
      ? []
      : [
          {
            claim: `${entities.value} instances of <${iri}>`,
            value: entities.value,
            query: `SELECT (COUNT(DISTINCT ?s) AS ?n) WHERE { ${anywhere(`?s ${written(rdf.type)} ${written(iri)}`)} }`,
          },
        ],
  );
  const properties = propertyPartitions.flatMap(({ property, triples: count }) =>
    count === undefined
      ? []
      : [
          {
            claim: `${count.value} triples with <${property}>`,
            value: count.value,
            query: `SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s ?o WHERE { ${anywhere(`?s ${written(property)} ?o`)} } } }`,
          },
        ],
  );
  const parts = [...classes, ...properties];
  if (parts.length > 0) return parts.reduce((least, one) => (one.value < least.value ? one : least));
  if (triples === undefined) return undefined;
  const query = `SELECT (COUNT(*) AS ?n) WHERE { ${anywhere("?s ?p ?o")} }`;
  return { claim: `${triples.value} triples`, value: triples.value, query };
}

async function counted(log: RetrievalLog, { claim, value, query }: CountClaim): Promise<SpotCheck> {
  const answer = await log.ask(query);
  const term = answer?.value.rows[0]?.get("n");
  const actual = term === undefined ? undefined : wholeNumberOf(term);
  if (actual === undefined || answer?.value.partial !== undefined) return { claim, verdict: "unchecked" };
  return isClose(value, actual)
    ? { claim, verdict: "confirmed" }
    : { claim, verdict: "contradicted", found: String(actual) };
}
