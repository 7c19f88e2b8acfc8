import type * as RDF from "@rdfjs/types";
import type { ComunicaDataFactory } from "@comunica/types";
import { type Algebra, AlgebraFactory, algebraUtils } from "@comunica/utils-algebra";
import { type Leaf, leafOf, leafOperation } from "./clause-operands.ts";
import { equalityJoinType, equatedParts } from "./equality-join.ts";
import { preparedType, inputsOf, reachedVariables } from "./prepared-input.ts";

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
export function substitutedPattern(
  pattern: Algebra.Operation,
  keys: SubstitutedKeys,
  dataFactory: ComunicaDataFactory,
): Algebra.Operation {
  const rows = keys.rows.map((row, number) => ({
    ...Object.fromEntries(keys.variables.map((name, index) => [name, row[index]])),
    [keyNumber]: dataFactory.literal(String(number)),
  }));
  return new Substitution(dataFactory, rows).keyed(pattern, new Set([...keys.variables, keyNumber]));
}

const passingOn: ReadonlySet<string> = new Set(["filter", preparedType, "orderby", "distinct", "reduced"]);

type Row = Readonly<Record<string, RDF.Term | undefined>>;
type Names = ReadonlySet<string>;

class Substitution {
  readonly #factory: AlgebraFactory;
  readonly #dataFactory: ComunicaDataFactory;
  readonly #rows: readonly Row[];

  constructor(dataFactory: ComunicaDataFactory, rows: readonly Row[]) {
    this.#factory = new AlgebraFactory(dataFactory);
    this.#dataFactory = dataFactory;
    this.#rows = rows;
  }

  /** Solutions of an operation with the terms of their key for these variables. */
  keyed(operation: Algebra.Operation, names: Names): Algebra.Operation {
    if (passingOn.has(operation.type)) {
      const { input, ...rest } = operation as Algebra.Filter;
      return this.#equated(Object.assign({}, rest, { input: this.keyed(input, names) }));
    }
    switch (operation.type) {
      case "join":
      case equalityJoinType:
        return this.#joined(inputsOf(operation), names);
      case "union":
        return this.#factory.createUnion(
          inputsOf(operation).map((input) => this.keyed(input, names)),
          false,
        );
      case "leftjoin":
        return this.#leftJoin(operation as Algebra.LeftJoin, names);
      case "minus":
        return this.#minus(operation as Algebra.Minus, names);
      case "extend":
        return this.#extend(operation as Algebra.Extend, names);
      case "project":
      case "group":
        return this.#subselect(operation as Algebra.Project | Algebra.Group, names);
      default:
        return this.#joined([operation], names, leafOf(operation) !== undefined);
    }
  }

  /** The FILTER may be what joins a part with the keys. */
  #equated(operation: Algebra.Filter): Algebra.Operation {
    if (operation.type !== "filter") return operation;
    const group = equatedParts(
      { input: operation.input, conditions: [operation.expression] },
      { factory: this.#factory },
    );
    return Object.assign({}, operation, { input: group.input });
  }

  /** A join with the keys; its operands take them where joining from outside is not the same. */
  #joined(inputs: readonly Algebra.Operation[], names: Names, isInside = true): Algebra.Operation {
    const operands = isInside ? inputs.map((input) => this.#operand(input, names)) : inputs;
    return this.#factory.createJoin([this.#values(names), ...operands], false);
  }

  #operand(operation: Algebra.Operation, names: Names): Algebra.Operation {
    const leaf = leafOf(operation);
    if (leaf) return substitutedLeaf(leaf, names, this.#dataFactory);
    const isReached = [...reachedVariables(operation)].some((name) => names.has(name));
    return isReached && !isOpaque(operation) ? this.keyed(operation, names) : operation;
  }

  #leftJoin(operation: Algebra.LeftJoin, names: Names): Algebra.Operation {
    const [left, right] = sides(operation);
    const input = [this.keyed(left, names), this.#rightSide(right, names)];
    return { ...operation, input } as Algebra.Operation;
  }

  #minus(operation: Algebra.Minus, names: Names): Algebra.Operation {
    const [left, right] = sides(operation);
    const keyed = this.keyed(left, names);
    // The number of the key makes no two solutions share a variable.
    const shared = new Set([...namesIn(left), ...names]);
    if (!namesIn(right).some((name) => shared.has(name))) return keyed;
    return { ...operation, input: [keyed, this.#rightSide(right, names)] } as Algebra.Operation;
  }

  #rightSide(operation: Algebra.Operation, names: Names): Algebra.Operation {
    const leaf = leafOf(operation);
    if (leaf)
      return substitutedLeaf(leaf, names, this.#dataFactory) === operation ? operation : this.keyed(operation, names);
    return this.#operand(operation, names);
  }

  #extend(operation: Algebra.Extend, names: Names): Algebra.Operation {
    const { value } = operation.variable;
    const others = new Set([...names].filter((name) => name !== value));
    const extended = { ...operation, input: this.keyed(operation.input, others) } as Algebra.Operation;
    return names.has(value) ? this.#joined([extended], names, false) : extended;
  }

  #subselect(operation: Algebra.Project | Algebra.Group, names: Names): Algebra.Operation {
    const own = new Set(operation.variables.map(({ value }) => value));
    const handed = new Set([...names].filter((name) => own.has(name)));
    // Without a key an aggregate has a solution even over nothing.
    if (handed.size === 0) return this.#joined([operation], names, false);
    const inside = new Set([...handed, keyNumber]);
    const variables = [...operation.variables, this.#dataFactory.variable(keyNumber)];
    const numbered: Algebra.Operation = Object.assign({}, operation, {
      variables,
      input: this.keyed(operation.input, inside),
    });
    return inside.size === names.size ? numbered : this.#joined([numbered], names, false);
  }

  #values(names: Names): Algebra.Operation {
    const variables = [...names].map((name) => this.#dataFactory.variable(name));
    const rows = this.#rows.map((row) => Object.fromEntries([...names].map((name) => [name, row[name]])));
    return this.#factory.createValues(variables, rows as Algebra.Values["bindings"]);
  }
}

function sides({ input }: Algebra.LeftJoin | Algebra.Minus): [left: Algebra.Operation, right: Algebra.Operation] {
  const [left, right] = input;
  if (!left || !right) throw new Error("OPTIONAL and MINUS have two sides");
  return [left, right];
}

const isOpaque = ({ type }: Algebra.Operation): boolean => type === "slice" || type === "values";

const namesIn = (operation: Algebra.Operation): string[] =>
  algebraUtils.inScopeVariables(operation).map(({ value }) => value);

/** The leaf; another one where its clause is not asked by joining alone. */
function substitutedLeaf(
  { source, operation }: Leaf,
  names: Names,
  dataFactory: ComunicaDataFactory,
): Algebra.Operation {
  const wanted = source.clause.correlated?.filter((name) => names.has(name)) ?? [];
  return wanted.length === 0 ? operation : leafOperation(source.substituting(wanted), dataFactory);
}
