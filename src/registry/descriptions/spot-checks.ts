import { countIn, type RequestLog } from "./request-log.ts";
import { written } from "./values.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import type { VoidFacts } from "./read-void.ts";

/** One claim of a description, held against the data. */
export interface SpotCheck {
  /** The checked claim, e.g. `class <http://...>`. */
  readonly claim: string;
  /** "unchecked": no answer came that says either. */
  readonly verdict: "confirmed" | "contradicted" | "unchecked";
  /** The contradicting value in the data. */
  readonly found?: string;
}

/** A count may be off by a quarter, or by five, but not by a factor of two: data grow after they were described. */
const tolerance = 0.25;
const slack = 5;

function isClose(one: number, other: number): boolean {
  const most = Math.max(one, other);
  return Math.abs(one - other) <= Math.max(tolerance * most, slack) && most < 2 * Math.min(one, other);
}

const anywhere = (pattern: string): string => `{ ${pattern} } UNION { GRAPH ?g { ${pattern} } }`;

/**
 * Checks up to three claims: that the largest class exists, a count of a class and one of a property; where these are not
 * counted, the existence of the largest property, or the number of triples. Without claims: none.
 */
export async function spotCheck(log: RequestLog, claims: VoidFacts): Promise<readonly SpotCheck[]> {
  const checks: SpotCheck[] = [];
  const [largest] = claims.classPartitions;
  const property = claims.propertyPartitions[0] ?? largest?.properties[0];
  if (largest !== undefined) {
    checks.push(await existence(log, `class <${largest.class}>`, `?s ${written(rdf.type)} ${written(largest.class)}`));
  }
  const counts = [typical(classCounts(claims)), typical(propertyCounts(claims))].filter((one) => one !== undefined);
  if (property !== undefined && (largest === undefined || counts.length < 2)) {
    checks.push(await existence(log, `property <${property.property}>`, `?s ${written(property.property)} ?o`));
  }
  for (const count of counts.length > 0 ? counts : allTriples(claims)) checks.push(await counted(log, count));
  return checks;
}

/** Verdict on the whole: one contradiction is enough, and at least one claim must be confirmed. */
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

async function existence(log: RequestLog, claim: string, pattern: string): Promise<SpotCheck> {
  const answer = await log.ask(`ASK { ${anywhere(pattern)} }`);
  const value = answer?.value?.boolean;
  if (value === true) return { claim, verdict: "confirmed" };
  // A time-out or row limit that the endpoint hides behind "false" is possible, but then its answers cannot be used either.
  if (value === false && answer?.value?.partial === undefined) return { claim, verdict: "contradicted", found: "none" };
  return { claim, verdict: "unchecked" };
}

/** A count and the query that counts it. */
interface CountClaim {
  readonly claim: string;
  readonly value: number;
  readonly query: string;
}

/** Small enough to be counted soon, large enough for a wrong factor to show; else the largest. */
const enough = 100;

function typical(counts: readonly CountClaim[]): CountClaim | undefined {
  const sorted = counts.toSorted((one, other) => one.value - other.value);
  return sorted.find(({ value }) => value >= enough) ?? sorted.at(-1);
}

const classCounts = ({ classPartitions }: VoidFacts): readonly CountClaim[] =>
  classPartitions.flatMap(({ class: iri, entities }) => {
    if (entities === undefined) return [];
    const query = `SELECT (COUNT(DISTINCT ?s) AS ?n) WHERE { ${anywhere(`?s ${written(rdf.type)} ${written(iri)}`)} }`;
    return [{ claim: `${entities.value} instances of <${iri}>`, value: entities.value, query }];
  });

const propertyCounts = ({ propertyPartitions }: VoidFacts): readonly CountClaim[] =>
  propertyPartitions.flatMap(({ property, triples }) => {
    if (triples === undefined) return [];
    const pairs = `SELECT DISTINCT ?s ?o WHERE { ${anywhere(`?s ${written(property)} ?o`)} }`;
    const query = `SELECT (COUNT(*) AS ?n) WHERE { { ${pairs} } }`;
    return [{ claim: `${triples.value} triples with <${property}>`, value: triples.value, query }];
  });

function allTriples({ classPartitions, propertyPartitions, triples }: VoidFacts): readonly CountClaim[] {
  if (triples === undefined || classPartitions.length + propertyPartitions.length > 0) return [];
  const query = `SELECT (COUNT(*) AS ?n) WHERE { { SELECT DISTINCT ?s ?p ?o WHERE { ${anywhere("?s ?p ?o")} } } }`;
  return [{ claim: `${triples.value} triples`, value: triples.value, query }];
}

async function counted(log: RequestLog, { claim, value, query }: CountClaim): Promise<SpotCheck> {
  const actual = countIn((await log.ask(query))?.value);
  if (actual === undefined) return { claim, verdict: "unchecked" };
  return isClose(value, actual)
    ? { claim, verdict: "confirmed" }
    : { claim, verdict: "contradicted", found: String(actual) };
}
