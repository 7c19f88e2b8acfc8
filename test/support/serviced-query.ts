import { rdf } from "../../src/rdf/vocabularies.ts";
import { parseQuery } from "../../src/sparql/query.ts";
import { writtenIn } from "./broken-queries.ts";
import type { DataTruth } from "./void-truth.ts";

/**
 * A query of triple patterns and FILTERs with a SERVICE around the patterns of each subject, for the first endpoint that has all
 * of their terms; around each pattern where none has. Undefined for other queries, and for terms that no endpoint has.
 */
export function serviced(text: string, endpoints: ReadonlyMap<string, DataTruth>): string | undefined {
  const parsed = parseQuery(text);
  const { where } = parsed.outline;
  if (
    where === undefined ||
    where.elements.some((each) => each.kind !== "triples" && !(each.kind === "filter" && each.groups.length === 0))
  )
    return undefined;
  const filters = where.elements.filter(({ kind }) => kind === "filter").map((element) => parsed.textOf(element));
  const inside = (at: number): boolean => at >= where.from && at < where.to;
  const triples = writtenIn(parsed).triples.filter(({ subject }) => inside(subject.range.from));
  const clauses: string[] = [];
  for (const star of Map.groupBy(triples, ({ subject }) => parsed.textOf(subject.range)).values()) {
    const whole = holderOf(star, endpoints);
    for (const part of whole === undefined ? star.map((each) => [each]) : [star]) {
      const holder = holderOf(part, endpoints);
      if (holder === undefined) return undefined;
      const written = part.map((triple) =>
        [triple.subject, triple.predicate, triple.object].map(({ range }) => parsed.textOf(range)).join(" "),
      );
      clauses.push(`SERVICE <http://${holder}.example/sparql> { ${written.join(" . ")} }`);
    }
  }
  const before = parsed.textOf({ from: 0, to: where.from });
  const after = parsed.textOf({ from: where.to, to: parsed.tokens.length });
  return `${before} { ${[...clauses, ...filters].join("\n")} } ${after}`;
}

type Triples = ReturnType<typeof writtenIn>["triples"];

function holderOf(triples: Triples, endpoints: ReadonlyMap<string, DataTruth>): string | undefined {
  const hasAll = ({ classPartitions, propertyPartitions }: DataTruth): boolean =>
    triples.every(({ predicate: { term }, object }) => {
      if (term.kind !== "iri") return false;
      if (term.iri !== rdf.type) return propertyPartitions.has(term.iri);
      return object.term.kind === "iri" && classPartitions.has(object.term.iri);
    });
  return [...endpoints].find(([, truth]) => hasAll(truth))?.[0];
}
