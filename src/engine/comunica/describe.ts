import type * as RDF from "@rdfjs/types";
import { KeysInitQuery } from "@comunica/context-entries";
import type { ComunicaDataFactory, IActionContext, IQueryOperationResult } from "@comunica/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import { termKey, tripleFromParts } from "../../results/terms.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { anyTriple, pathVariables } from "../sources/property-path.ts";
import { boundJoin, type BoundSide } from "./bound-join.ts";
import { batches, leafOf, leafSide, type OperatorArgs, SolutionOperator } from "./clause-operands.ts";
import { quadsOf } from "./construct.ts";
import { controlKey } from "./execution.ts";
import { each } from "./group-solutions.ts";
import { inputsOf } from "./prepared-input.ts";
import { Row } from "./row.ts";

const { start, predicate, end } = pathVariables;

/** DESCRIBE, and the pattern whose subjects are the resources. */
interface DescribeTriples extends Algebra.Describe {
  readonly described: Algebra.Operation;
}

const FORMS: ReadonlySet<string> = new Set(["ask", "construct", "describe"]);

/**
 * The algebra with a query's form around all else: LIMIT and OFFSET count solutions (SPARQL 1.1 Query, section 15), where
 * Comunica counts triples. DESCRIBE has its triples as a pattern, for which a leaf can be assigned.
 */
export function withFormOutside(operation: Algebra.Operation, dataFactory: ComunicaDataFactory): Algebra.Operation {
  const [form] = inputsOf(operation);
  if (operation.type === "slice" && form && FORMS.has(form.type)) {
    const sliced = Object.assign({}, operation, { input: inputsOf(form)[0] });
    return withFormOutside(Object.assign({}, form, { input: sliced }), dataFactory);
  }
  if (operation.type !== "describe") return operation;
  const factory = new AlgebraFactory(dataFactory);
  const { subject, predicate: property, object } = anyTriple;
  const triples = factory.createBgp([factory.createPattern(subject, property, object)]);
  // Whoever learns how the query uses its variables sees that these are shown.
  const shown = [start, predicate, end].map((name) => dataFactory.variable(name));
  return Object.assign({}, operation, { described: factory.createProject(triples, shown) });
}

/**
 * DESCRIBE: first the resources, each once, then the triples they are subjects of and, for the blank nodes among the
 * objects, theirs (a Concise Bounded Description), in blocks. An unbound variable names no resource.
 */
export class DescribeResources extends SolutionOperator<DescribeTriples> {
  constructor(args: OperatorArgs) {
    super(args, "describe");
  }

  protected override async runOperation(
    { input, terms, described }: DescribeTriples,
    context: IActionContext,
  ): Promise<IQueryOperationResult> {
    const variables = terms.filter((term) => term.termType === "Variable");
    const constants = terms.filter((term) => term.termType !== "Variable");
    const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
    const output = await this.operand(new AlgebraFactory(dataFactory).createProject(input, variables), context);
    const [triples] = inputsOf(described);
    const leaf = triples && leafOf(triples);
    async function* resources(): AsyncIterable<readonly RDF.Term[]> {
      yield constants;
      for await (const rows of batches(output)) yield rows.flatMap((row) => variables.flatMap((v) => row.get(v) ?? []));
    }
    const { held } = context.getSafe(controlKey);
    return quadsOf(output, context, () => (leaf ? describedTriples(resources(), leafSide(leaf), held) : each([])));
  }
}

const RESOURCES_AT_ONCE = 256;

async function* describedTriples(
  resources: AsyncIterable<readonly RDF.Term[]>,
  right: BoundSide,
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
  async function* subjects(terms: AsyncIterable<readonly RDF.Term[]>): AsyncIterable<readonly RDF.Bindings[]> {
    for await (const batch of terms) yield batch.filter(isNew).map((term) => new Row(new Map([[start, term]])));
  }
  const join = {
    right,
    leftVariables: [start],
    sizes: { next: () => RESOURCES_AT_ONCE },
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

function tripleOf(row: RDF.Bindings): RDF.Quad | undefined {
  const [subject, property, object] = [row.get(start), row.get(predicate), row.get(end)];
  return subject && property && object && tripleFromParts(subject, property, object);
}
