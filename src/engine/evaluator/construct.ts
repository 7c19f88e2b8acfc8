import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { blankNodeFromLabel, tripleFromParts } from "../../results/terms.ts";
import { termsText } from "../clause-query.ts";
import type { Construct, Pattern } from "./algebra.ts";
import { type Execution, followed, solutionsOf, type Triples } from "./execution.ts";
import { once } from "../held-bytes.ts";

/**
 * CONSTRUCT: the set of triples that the template makes of the solutions. One with an unbound variable, a literal as its
 * subject or anything but an IRI as its predicate is left out (SPARQL 1.1 Query, section 16.2).
 */
export async function construct({ input, template }: Construct, execution: Execution): Promise<Triples> {
  const { rows } = await solutionsOf(input, execution);
  return triples(execution, () => once(triplesOf(template, rows), tripleKey, execution.held.open()));
}

/** Triples that are made of solutions, which were counted. */
export const triples = ({ signal }: Execution, open: () => Triples["quads"]): Triples => ({
  kind: "quads",
  quads: followed(open, { signal, count: () => {} }),
});

async function* triplesOf(
  template: readonly Pattern[],
  rows: AsyncIterable<readonly Bindings[]>,
): AsyncIterable<readonly RDF.Quad[]> {
  let solutions = 0;
  const instanceOf = (row: Bindings): RDF.Quad[] => {
    // Blank nodes of the template are other ones for each solution; no other label begins like this.
    const scope = `t${solutions++}_`;
    const instance = (term: RDF.Term): RDF.Term | undefined => {
      if (term.termType === "Variable") return row.get(term.value);
      return term.termType === "BlankNode" ? blankNodeFromLabel(scope + term.value) : term;
    };
    return template.flatMap((pattern) => {
      const [subject, predicate, object] = [pattern.subject, pattern.predicate, pattern.object].map(instance);
      return (subject && predicate && object && tripleFromParts(subject, predicate, object)) ?? [];
    });
  };
  for await (const batch of rows) yield batch.flatMap(instanceOf);
}

const tripleKey = ({ subject, predicate, object }: RDF.Quad): string => termsText([subject, predicate, object]);
