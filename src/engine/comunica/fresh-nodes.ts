import type { ComunicaDataFactory } from "@comunica/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import type * as RDF from "@rdfjs/types";

const ROW = "fedway_row";
const xsdString = "http://www.w3.org/2001/XMLSchema#string";

/**
 * BNODE() makes nodes that no other solution and no endpoint has, and one node of one string within a solution (SPARQL 1.1
 * Query, section 17.4.2.9). Comunica tells solutions apart behind projections only, by a number behind the label, which
 * other labels may end in. Here a solution has a name of its own, which the labels begin with.
 */
export function createFreshNodes(dataFactory: ComunicaDataFactory): (extend: Algebra.Extend) => Algebra.Extend {
  const factory = new AlgebraFactory(dataFactory);
  const call = (name: string, ...args: Algebra.Expression[]) => factory.createOperatorExpression(name, args);
  const term = (value: RDF.Term) => factory.createTermExpression(value);
  let rows = 0;

  function labelled(expression: Algebra.Expression, row: RDF.Variable): Algebra.Expression {
    if (!isCall(expression)) return expression;
    const args = expression.args.map((arg) => labelled(arg, row));
    const [label] = args;
    const same: Algebra.OperatorExpression = { ...expression, args };
    if (expression.operator !== "bnode") return same;
    if (!label) return call("bnode", call("struuid"));
    const isString = call("=", call("datatype", label), term(dataFactory.namedNode(xsdString)));
    const own = call("concat", term(row), term(dataFactory.literal("_")), label);
    return call("if", isString, call("bnode", own), call("bnode", label));
  }

  return ({ input, variable, expression, ...extend }) => {
    if (!makesNodes(expression)) return { ...extend, input, variable, expression };
    const known = rowOf(input);
    const row = known ?? dataFactory.variable(`${ROW}${rows++}`);
    const named = known ? input : factory.createExtend(input, row, call("struuid"));
    return { ...extend, input: named, variable, expression: labelled(expression, row) };
  };
}

const isCall = (expression: Algebra.Expression): expression is Algebra.OperatorExpression =>
  expression.subType === "operator";

const makesNodes = (expression: Algebra.Expression): boolean =>
  isCall(expression) && (expression.operator === "bnode" || expression.args.some((arg) => makesNodes(arg)));

/** The variable that names the solutions of which a chain of BIND and FILTER makes these. */
function rowOf(operation: Algebra.Operation): RDF.Variable | undefined {
  const { type, variable, input } = operation as { type: string; variable?: RDF.Variable; input?: Algebra.Operation };
  if (type === "extend" && variable?.value.startsWith(ROW)) return variable;
  return input && (type === "extend" || type === "filter") ? rowOf(input) : undefined;
}
