import type * as RDF from "../../rdf/term.ts";
import { canBeEmpty } from "../sources/property-path.ts";
import { type Graphs, graphVariable, patternVariable } from "../sources/triple-pattern.ts";
import type { Bgp, Group, Minus, Operation, Path, Project, Service } from "./algebra.ts";
import { toPath } from "./conjuncts.ts";
import {
  existencesIn,
  expressionsOf,
  expressionVariables,
  inputsOf,
  inScopeVariables,
  joinOf,
  reachedVariables,
  union,
  valuesOf,
  withInputs,
  withParts,
} from "./operations.ts";

/**
 * The algebra without GRAPH and FROM: each pattern names the graphs that it is matched in. `GRAPH ?g` becomes a variable of
 * its patterns, so that they join within one graph; where solutions of one graph depend on each other (LIMIT, an aggregate
 * over all), it becomes a union over the names of all graphs.
 * @param askNames asks for these; called at most once, and only for such queries without FROM NAMED
 */
export async function withoutGraphs(
  operation: Operation,
  askNames: () => Promise<readonly RDF.Term[]>,
): Promise<Operation> {
  const placing = new GraphPlacing(undefined);
  const placed = placing.query(operation);
  return placing.lacksNames ? new GraphPlacing(await askNames()).query(operation) : placed;
}

/** An operation whose patterns name their graphs. */
interface Placed {
  readonly operation: Operation;
  /**
   * Each solution takes a triple of the graph, and so binds the variable of `GRAPH ?g`. Otherwise solutions may not
   * depend on the graph, which must exist all the same.
   */
  readonly anchored: boolean;
}

interface Dataset {
  readonly default: Graphs;
  readonly named: Graphs;
}

class GraphPlacing {
  /** A GRAPH needs the names of all graphs, which are not known. */
  lacksNames = false;
  readonly #names: readonly RDF.Term[] | undefined;
  #dataset: Dataset | undefined;
  #fresh = 0;

  constructor(names: readonly RDF.Term[] | undefined) {
    this.#names = names;
  }

  query(operation: Operation): Operation {
    if (operation.type !== "from") return this.#placed(operation, undefined).operation;
    this.#dataset = { default: distinctTerms(operation.default), named: distinctTerms(operation.named) };
    return this.#placed(operation.input, this.#dataset.default).operation;
  }

  #placed(operation: Operation, graphs: Graphs | undefined): Placed {
    switch (operation.type) {
      case "service":
        return { operation: operation.silent ? this.#graph(operation) : operation, anchored: false };
      case "bgp":
      case "path":
        return this.#leaf(operation, graphs);
      default: {
        const parts: Placed[] = [];
        const whole = withParts(operation, {
          part: (part) => {
            const placed = this.#placed(part, graphs);
            parts.push(placed);
            return placed.operation;
          },
          existence: (exists) => ({ ...exists, input: this.#placed(exists.input, graphs).operation }),
        });
        const variable = graphVariable(graphs);
        return variable === undefined
          ? { operation: whole, anchored: isAnchored(whole, parts) }
          : this.#inEach(whole, parts, variable);
      }
    }
  }

  #leaf(leaf: Bgp | Path, graphs: Graphs | undefined): Placed {
    if (leaf.type === "bgp" && leaf.patterns.length === 0) return { operation: leaf, anchored: false };
    const variable = graphVariable(graphs);
    const operation =
      leaf.type === "path"
        ? { ...leaf, graphs }
        : { ...leaf, patterns: leaf.patterns.map((pattern) => Object.assign({}, pattern, { graphs })) };
    // The engine looks for a path with a variable graph in graphs that exist.
    const anchored = variable !== undefined || leaf.type === "bgp" || !canBeEmpty(toPath(leaf.predicate));
    return {
      operation: this.#dataset && variable ? joinOf([this.#existing(variable), operation]) : operation,
      anchored,
    };
  }

  /** An operation in the scope of `GRAPH ?g`: its value in each graph, with the graph's name. */
  #inEach(operation: Operation, parts: readonly Placed[], variable: RDF.Term): Placed {
    const { value } = variable;
    const isAny = parts.some(({ anchored }) => anchored);
    switch (operation.type) {
      case "join":
        return { operation, anchored: isAny };
      case "union":
        return isAny ? this.#withAnchored(operation, parts, variable) : { operation, anchored: false };
      case "project":
      case "group":
        return { operation: isAny ? withVariable(operation, value) : operation, anchored: isAny };
      // The name of the graph is no variable in common.
      case "minus":
        if (parts[0] && sharedVariables(operation, value).length === 0) return parts[0];
    }
    // The first operand has the name of the graph for the others, and for expressions.
    const isAsked = parts.slice(1).some(({ anchored }) => anchored) || looksAt(operation, value);
    return isAsked ? this.#withAnchored(operation, parts, variable, 1) : { operation, anchored: isAny };
  }

  /** The operation with parts that bind the name of the graph: all of them, or the first ones. */
  #withAnchored(
    operation: Operation,
    parts: readonly Placed[],
    variable: RDF.Term,
    first: number = parts.length,
  ): Placed {
    const inputs = parts.map((part, index) => (index < first ? this.#anchored(part, variable) : part.operation));
    return { operation: withInputs(operation, inputs), anchored: true };
  }

  #anchored({ operation, anchored }: Placed, variable: RDF.Term): Operation {
    return anchored ? operation : joinOf([this.#existing(variable), operation]);
  }

  #graph({ name, input }: Service): Operation {
    const named = this.#dataset?.named;
    if (name.termType === "Variable") return this.#variableGraph(name, input);
    if (named?.some((one) => one.equals(name)) === false) {
      return valuesOf([...inScopeVariables(input)].map(patternVariable), []);
    }
    const { operation, anchored } = this.#placed(input, [name]);
    return anchored || named ? operation : joinOf([this.#existing(name), operation]);
  }

  #variableGraph(variable: RDF.Variable, input: Operation): Operation {
    if (!dependsOnOneGraph(input, variable.value)) return this.#anchored(this.#placed(input, [variable]), variable);
    const names = this.#dataset?.named ?? this.#names;
    if (names === undefined) this.lacksNames = true;
    const branches = (names ?? []).map((name) =>
      joinOf([valuesOf([variable], [{ [variable.value]: name }]), this.#placed(input, [name]).operation]),
    );
    const [only] = branches;
    if (only === undefined) return valuesOf([...inScopeVariables(input), variable.value].map(patternVariable), []);
    return branches.length === 1 ? only : { type: "union", input: branches };
  }

  /** The names of graphs that exist, or one empty solution where that of this name does. */
  #existing(name: RDF.Term): Operation {
    const isVariable = name.termType === "Variable";
    const variables = isVariable ? [patternVariable(name.value)] : [];
    const named = this.#dataset?.named;
    if (named && isVariable) {
      return valuesOf(
        variables,
        named.map((one) => ({ [name.value]: one })),
      );
    }
    const fresh = () => patternVariable(`fedway_graph${this.#fresh++}`);
    const pattern = { subject: fresh(), predicate: fresh(), object: fresh(), graphs: [name] };
    return {
      type: "distinct",
      input: { type: "project", input: { type: "bgp", patterns: [pattern] }, variables },
    };
  }
}

const distinctTerms = (terms: readonly RDF.NamedNode[]): Graphs => [
  ...new Map(terms.map((term) => [term.value, term])).values(),
];

/** The operation, whose solutions keep the variable. */
const withVariable = (operation: Project | Group, name: string): Operation =>
  operation.variables.some(({ value }) => value === name)
    ? operation
    : { ...operation, variables: [...operation.variables, patternVariable(name)] };

/** True if an expression of an operation mentions a variable, or has an EXISTS, which may. */
const looksAt = (operation: Operation, name: string): boolean =>
  expressionsOf(operation).some(
    (expression) => existencesIn(expression).length > 0 || expressionVariables(expression).has(name),
  );

/** True if each solution takes a triple of the graph that the operands are placed in. */
function isAnchored(operation: Operation, parts: readonly Placed[]): boolean {
  switch (operation.type) {
    case "join":
      return parts.some(({ anchored }) => anchored);
    case "union":
      return parts.every(({ anchored }) => anchored);
    case "group":
      return operation.variables.length > 0 && parts[0]?.anchored === true;
    default:
      return parts[0]?.anchored === true;
  }
}

/**
 * True if the solutions of a graph depend on each other, or its name is used for something else: then the name cannot be
 * a variable of all patterns.
 */
function dependsOnOneGraph(operation: Operation, name: string): boolean {
  if (operation.type === "service") return false;
  const existences = expressionsOf(operation).flatMap((expression) => existencesIn(expression));
  return (
    isOfOneGraph(operation, name) ||
    [...inputsOf(operation), ...existences.map(({ input }) => input)].some((part) => dependsOnOneGraph(part, name))
  );
}

function isOfOneGraph(operation: Operation, name: string): boolean {
  switch (operation.type) {
    case "slice":
      return hasPatterns(operation.input);
    case "group":
      return operation.variables.length === 0 && hasPatterns(operation.input);
    case "extend":
      return operation.variable.value === name;
    case "project":
      return !operation.variables.some(({ value }) => value === name) && reachedVariables(operation.input).has(name);
    case "minus": {
      const [left, right] = operation.input.map((input) => certainVariables(input));
      const shared = sharedVariables(operation, name);
      return shared.length > 0 && !shared.some((shown) => left?.has(shown) && right?.has(shown));
    }
    default:
      return false;
  }
}

/** Variables that both sides of a MINUS may bind, but for this one. */
function sharedVariables({ input }: Minus, name: string): readonly string[] {
  const [left, right] = input.map((side) => inScopeVariables(side));
  return [...(left ?? [])].filter((shared) => shared !== name && right?.has(shared));
}

const hasPatterns = (operation: Operation): boolean =>
  operation.type === "path" ||
  (operation.type === "bgp" && operation.patterns.length > 0) ||
  (operation.type !== "service" && inputsOf(operation).some((input) => hasPatterns(input)));

/** Some of the variables that all solutions bind. */
function certainVariables(operation: Operation): ReadonlySet<string> {
  const inputs = (): readonly ReadonlySet<string>[] => inputsOf(operation).map((input) => certainVariables(input));
  switch (operation.type) {
    case "bgp":
    case "path":
      return inScopeVariables(operation);
    case "join":
      return union(inputs());
    case "union":
      return inputs().reduce((all, own) => all.intersection(own));
    case "project":
    case "group": {
      const own = new Set(operation.variables.map(({ value }) => value));
      return inputs()[0]?.intersection(own) ?? own;
    }
    case "service":
      return new Set();
    default:
      return inputs()[0] ?? new Set();
  }
}
