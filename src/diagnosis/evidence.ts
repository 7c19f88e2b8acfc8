import type { Evidence, Statement } from "../errors/fedway-error.ts";
import type { UsedTerm } from "../sparql/patterns.ts";

/** Descriptions that a claim shows, the oldest first; notes are kept with their runs. */
const mostShown = 20;

/** Fact of a description about a class or property of its endpoint. */
interface DescribedTerm {
  /** Catalogue id. */
  readonly endpoint: string;
  /** When the description was made (ISO 8601). */
  readonly time: string;
  readonly term: UsedTerm;
  /** Triples with the property, or instances of the class. */
  readonly count: number;
}

/** A claim that descriptions prove. */
export const describedStatement = (claim: string, read: readonly DescribedTerm[]): Statement => ({
  claim,
  evidence: read
    .toSorted((one, other) => one.time.localeCompare(other.time))
    .slice(0, mostShown)
    .map(
      ({ endpoint, time, term: { kind, iri }, count }): Evidence => ({
        endpoint,
        query: `SELECT * WHERE { ?s ${kind === "class" ? `a <${iri}>` : `<${iri}> ?o`} }`,
        count,
        time,
        by: "description",
      }),
    ),
});

/** "by the description of 2026-01-02 03:04", of facts that kept endpoints from being asked. Conclusions are never shown as observations. */
export function describedText(at: readonly string[]): string {
  const [oldest] = at.toSorted();
  const date = oldest === undefined ? "" : ` of ${oldest.slice(0, 16).replace("T", " ")}`;
  return at.length === 1 ? `by the description${date}` : `by the descriptions${date} or later`;
}

/**
 * The text of statements: their claims, each run of them with the evidence that they share.
 * @param ageMs since they were made; absent: now
 */
export function statedText(statements: readonly Statement[], ageMs?: number): string {
  const grounds = statements.map((statement) => groundText(statement, ageMs));
  const claims = statements.map(({ claim }, at) =>
    grounds[at] === grounds[at + 1] ? claim : `${claim} (${grounds[at]})`,
  );
  return `${claims.join("; ")}.`;
}

/** The weakest evidence of a statement, in words. */
function groundText({ evidence }: Statement, ageMs: number | undefined): string {
  const described = evidence.filter(({ by }) => by === "description").map(({ time }) => time);
  if (described.length > 0) return describedText([...new Set(described)]);
  if (evidence.every(({ by }) => by === "query")) return "by the query alone";
  return ageMs === undefined ? "asked now" : `asked ${Math.round(ageMs / 1000)} s ago`;
}
