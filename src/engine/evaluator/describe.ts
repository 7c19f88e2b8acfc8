import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { termKey, tripleFromParts } from "../../results/terms.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { anyTriple, pathVariables } from "../sources/property-path.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type { Describe, Operation } from "./algebra.ts";
import { boundJoin } from "./bound-join.ts";
import { triples } from "./construct.ts";
import { each, type Execution, type Rows, solutionsOf, type Triples } from "./execution.ts";
import { type LeafClause, leafSide } from "./leaf.ts";
import { inputsOf } from "./operations.ts";

const { start, predicate, end } = pathVariables;

const FORMS: ReadonlySet<Operation["type"]> = new Set(["ask", "construct", "describe"]);

/**
 * The algebra with a query's form around all else: LIMIT and OFFSET count solutions (SPARQL 1.1 Query, section 15), where
 * parsers of the RDF/JS family have them count triples. DESCRIBE has its triples as a pattern, for which a leaf can be
 * assigned.
 */
export function withFormOutside(operation: Operation): Operation {
  if (operation.type === "slice" && FORMS.has(operation.input.type)) {
    const [input] = inputsOf(operation.input);
    const form: Operation = Object.assign({}, operation.input, { input: { ...operation, input } });
    return withFormOutside(form);
  }
  if (operation.type === "from") return { ...operation, input: withFormOutside(operation.input) };
  if (operation.type !== "describe") return operation;
  // Whoever learns how the query uses its variables sees that these are shown.
  const variables = [start, predicate, end].map(patternVariable);
  return { ...operation, described: { type: "project", input: { type: "bgp", patterns: [anyTriple] }, variables } };
}

/**
 * DESCRIBE: first the resources, each once, then the triples they are subjects of and, for the blank nodes among the
 * objects, theirs (a Concise Bounded Description), in blocks. An unbound variable names no resource.
 */
export async function describe({ input, terms, described }: Describe, execution: Execution): Promise<Triples> {
  const names = terms.flatMap(({ termType, value }) => (termType === "Variable" ? [value] : []));
  const constants = terms.filter((term) => term.termType !== "Variable");
  const { rows } = await solutionsOf(input, execution);
  const [leaf] = described ? inputsOf(described) : [];
  async function* resources(): AsyncIterable<readonly RDF.Term[]> {
    yield constants;
    for await (const batch of rows) yield batch.flatMap((row) => names.flatMap((name) => row.get(name) ?? []));
  }
  return triples(execution, () =>
    leaf?.type === "fedway:leaf" ? describedTriples(resources(), leaf.clause, execution.held) : each([]),
  );
}

const RESOURCES_AT_ONCE = 256;

async function* describedTriples(
  resources: AsyncIterable<readonly RDF.Term[]>,
  clause: LeafClause,
  held: HeldBytes,
): AsyncIterable<readonly RDF.Quad[]> {
  const holding = held.open();
  const seen = new Set<string>();
  const isNew = (term: RDF.Term): boolean => {
    const key = termKey(term);
    if (term.termType === "Literal" || seen.has(key)) return false;
    holding.add(keyBytes(key));
    seen.add(key);
    return true;
  };
  async function* subjects(terms: AsyncIterable<readonly RDF.Term[]>): Rows {
    for await (const batch of terms) yield batch.filter(isNew).map((term) => new Map([[start, term]]));
  }
  const join = {
    right: { ...leafSide(clause), blocks: { next: () => RESOURCES_AT_ONCE } },
    leftVariables: [start],
    mode: "inner",
    held,
  } as const;
  for (let next = resources; ; ) {
    const blank: RDF.Term[] = [];
    for await (const rows of boundJoin({ ...join, left: subjects(next) })) {
      const quads = rows.flatMap((row) => tripleOf(row) ?? []);
      for (const { object } of quads)
        if (object.termType === "BlankNode" && !seen.has(termKey(object))) blank.push(object);
      yield quads;
    }
    if (blank.length === 0) break;
    next = each([blank]);
  }
  holding.release();
}

function tripleOf(row: Bindings): RDF.Quad | undefined {
  const [subject, property, object] = [row.get(start), row.get(predicate), row.get(end)];
  return subject && property && object && tripleFromParts(subject, property, object);
}
