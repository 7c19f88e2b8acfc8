import type * as RDF from "../../rdf/term.ts";
import { literalFromParts } from "../../results/terms.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type { Extend, Filter, Group, Leaf, LeftJoin, Minus, Operation, Project } from "./algebra.ts";
import { equatedParts } from "./equality-join.ts";
import { leafOf } from "./leaf.ts";
import { inputsOf, inScopeVariables, reachedVariables, valuesOf, withInputs } from "./operations.ts";

/** Keys that a pattern is asked for, whose terms stand for variables in it. */
interface SubstitutedKeys {
  readonly variables: readonly string[];
  readonly rows: readonly (readonly RDF.Term[])[];
}

/** The number of a key among those that were asked for at once; no query has a variable of this name. */
export const keyNumber = "fedway_question";

/**
 * A pattern whose solutions are those of the pattern with each of the keys substituted (SPARQL 1.1 Query, section 18.6),
 * all of them at once: each solution has its key's number and terms. Terms are put where solutions arise, as inline data,
 * so that every FILTER and BIND above them sees them. Unlike under substitution by the letter, the variables stay bound:
 * MINUS compares them, too. A subselect takes those that it projects; one with LIMIT or OFFSET takes none, because it
 * chooses among all of its solutions.
 */
export function substitutedPattern(pattern: Operation, keys: SubstitutedKeys): Operation {
  const rows = keys.rows.map((row, number): Row => {
    const terms = keys.variables.flatMap((name, index) => (row[index] ? [[name, row[index]] as const] : []));
    return { ...Object.fromEntries(terms), [keyNumber]: literalFromParts(String(number)) };
  });
  return new Substitution(rows).keyed(pattern, new Set([...keys.variables, keyNumber]));
}

type Row = Readonly<Record<string, RDF.Term>>;
type Names = ReadonlySet<string>;

const passingOn: ReadonlySet<Operation["type"]> = new Set(["fedway:prepared", "orderby", "distinct", "reduced"]);

class Substitution {
  readonly #rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }

  /** Solutions of an operation with the terms of their key for these variables. */
  keyed(operation: Operation, names: Names): Operation {
    if (passingOn.has(operation.type)) {
      const inputs = inputsOf(operation).map((input) => this.keyed(input, names));
      return withInputs(operation, inputs);
    }
    switch (operation.type) {
      case "filter":
        return equated({ ...operation, input: this.keyed(operation.input, names) });
      case "join":
        return { ...operation, input: this.#beside(inputsOf(operation), names) };
      case "fedway:equality-join":
        return this.#joined(inputsOf(operation), names);
      case "union":
        return { ...operation, input: inputsOf(operation).map((input) => this.keyed(input, names)) };
      case "leftjoin":
        return this.#leftJoin(operation, names);
      case "minus":
        return this.#minus(operation, names);
      case "extend":
        return this.#extend(operation, names);
      case "project":
      case "group":
        return this.#subselect(operation, names);
      default:
        return this.#joined([operation], names, operation.type === "fedway:leaf");
    }
  }

  /** A join with the keys; its operands take them where joining from outside is not the same. */
  #joined(inputs: readonly Operation[], names: Names, isInside = true): Operation {
    return { type: "join", input: isInside ? this.#beside(inputs, names) : [this.#values(names), ...inputs] };
  }

  #beside(inputs: readonly Operation[], names: Names): readonly Operation[] {
    return [this.#values(names), ...inputs.map((input) => this.#operand(input, names))];
  }

  #operand(operation: Operation, names: Names): Operation {
    if (operation.type === "fedway:leaf") return substitutedLeaf(operation, names);
    if (isJoined(operation, names)) return operation;
    const isReached = [...reachedVariables(operation)].some((name) => names.has(name));
    return isReached && !isOpaque(operation) ? this.keyed(operation, names) : operation;
  }

  #leftJoin(operation: LeftJoin, names: Names): Operation {
    const [left, right] = sides(operation);
    return { ...operation, input: [this.keyed(left, names), this.#rightSide(right, names)] };
  }

  #minus(operation: Minus, names: Names): Operation {
    const [left, right] = sides(operation);
    const keyed = this.keyed(left, names);
    // The number of the key makes no two solutions share a variable.
    if (inScopeVariables(right).isDisjointFrom(inScopeVariables(left).union(names))) return keyed;
    return { ...operation, input: [keyed, this.#rightSide(right, names)] };
  }

  #rightSide(operation: Operation, names: Names): Operation {
    if (isJoined(operation, names)) return operation;
    return operation.type === "fedway:leaf" ? this.keyed(operation, names) : this.#operand(operation, names);
  }

  #extend(operation: Extend, names: Names): Operation {
    const { value } = operation.variable;
    const others = new Set([...names].filter((name) => name !== value));
    const extended: Operation = { ...operation, input: this.keyed(operation.input, others) };
    return names.has(value) ? this.#joined([extended], names, false) : extended;
  }

  #subselect(operation: Project | Group, names: Names): Operation {
    const own = new Set(operation.variables.map(({ value }) => value));
    const handed = new Set([...names].filter((name) => own.has(name)));
    // Without a key an aggregate has a solution even over nothing.
    if (handed.size === 0) return this.#joined([operation], names, false);
    const inside = new Set([...handed, keyNumber]);
    const variables = [...operation.variables, patternVariable(keyNumber)];
    const numbered: Operation = { ...operation, variables, input: this.keyed(operation.input, inside) };
    return inside.size === names.size ? numbered : this.#joined([numbered], names, false);
  }

  #values(names: Names): Operation {
    const only = (row: Row): Row =>
      Object.fromEntries([...names].flatMap((name) => (row[name] ? [[name, row[name]] as const] : [])));
    return valuesOf([...names].map(patternVariable), this.#rows.map(only));
  }
}

/** The FILTER may be what joins a part with the keys. */
function equated(operation: Filter): Operation {
  const group = equatedParts({ input: operation.input, conditions: [operation.expression] });
  return { ...operation, input: group.input };
}

function sides({ input }: LeftJoin | Minus): [left: Operation, right: Operation] {
  const [left, right] = input;
  if (!left || !right) throw new Error("OPTIONAL and MINUS have two sides");
  return [left, right];
}

const isOpaque = ({ type }: Operation): boolean => type === "slice" || type === "values";

/** Its solutions with the keys substituted are those that are compatible with one of them. */
const isJoined = (operation: Operation, names: Names): boolean =>
  operation.type === "fedway:leaf"
    ? substitutedLeaf(operation, names) === operation
    : (operation.type === "join" || operation.type === "union") &&
      operation.input.every((input) => isJoined(input, names));

/** The leaf; another one where its clause is not asked by joining alone. */
function substitutedLeaf(operation: Leaf, names: Names): Operation {
  const { clause } = operation;
  const wanted = clause.correlated?.filter((name) => names.has(name)) ?? [];
  return wanted.length === 0 ? operation : leafOf(clause.substituting?.(wanted) ?? clause);
}
