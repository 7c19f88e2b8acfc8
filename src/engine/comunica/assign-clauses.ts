import type * as RDF from "@rdfjs/types";
import {
  ActorOptimizeQueryOperation,
  type IActionOptimizeQueryOperation,
  type IActorOptimizeQueryOperationOutput,
} from "@comunica/bus-optimize-query-operation";
import { KeysInitQuery } from "@comunica/context-entries";
import { passTestVoid, type IActorTest, type TestResult } from "@comunica/core";
import type { IActionContext, ComunicaDataFactory } from "@comunica/types";
import { Algebra, AlgebraFactory, algebraUtils } from "@comunica/utils-algebra";
import { leafOperation } from "./clause-operands.ts";
import { ClauseSource } from "./clause-source.ts";
import { withFormOutside } from "./describe.ts";
import { type EquatedPartsOptions, equatedParts } from "./equality-join.ts";
import { clauseSourcesKey, patternLeavesKey, wantedKey } from "./execution.ts";
import { createExistsNames } from "./existence.ts";
import { withPreparedInput, existencesIn, inputsOf } from "./prepared-input.ts";
import {
  bgpConjuncts,
  type Conjunct,
  connectedConjuncts,
  groupVariables,
  pathConjuncts,
  triplesIn,
  withTerm,
} from "./conjuncts.ts";
import { countedGroup } from "./counted-group.ts";
import { surroundingsKey } from "./expression-evaluator.ts";
import type { GroupDemand } from "./group-plan.ts";
import { PatternClause, type PatternLeaves } from "./pattern-leaves.ts";
import { PushDown } from "./push-down.ts";

/**
 * Turns every SERVICE clause of a skeleton into the leaf of its source, and patterns outside the clauses into leaves over
 * the merged graph of the plan's members. In plans without such members they become the empty multiset of solutions.
 */
export class AssignClauses extends ActorOptimizeQueryOperation {
  override async test(_action: IActionOptimizeQueryOperation): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  override async run(action: IActionOptimizeQueryOperation): Promise<IActorOptimizeQueryOperationOutput> {
    const operation = withFormOutside(action.operation, action.context.getSafe(KeysInitQuery.dataFactory));
    const wanted = wantedSolutions(operation);
    const context = wanted === undefined ? action.context : action.context.set(wantedKey, wanted);
    return { operation: assign(operation, context), context };
  }
}

/** So many solutions are enough for a LIMIT that nothing sorts or gathers for, or for ASK. */
function wantedSolutions(operation: Algebra.Operation): number | undefined {
  const [input] = inputsOf(operation);
  if (operation.type === "ask") return 1;
  if (operation.type === "construct" && input) return wantedSolutions(input);
  if (operation.type !== "slice" || !input || isGathering(input)) return undefined;
  const { start, length } = operation as Algebra.Slice;
  return length === undefined ? undefined : start + length;
}

function isGathering(operation: Algebra.Operation): boolean {
  if (operation.type === "orderby" || operation.type === "group") return true;
  const [input, ...others] = inputsOf(operation);
  return input !== undefined && others.length === 0 && isGathering(input);
}

function assign(operation: Algebra.Operation, context: IActionContext): Algebra.Operation {
  const sources = context.getSafe(clauseSourcesKey);
  const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
  const factory = new AlgebraFactory(dataFactory);
  const leaves = context.get(patternLeavesKey);
  leaves?.use.read(operation);
  for (const { clause } of sources.values()) leaves?.use.mention(clause.correlated ?? []);
  const nameExists = createExistsNames();
  const freshNodes = createFreshNodes(dataFactory);
  const patterns = new PatternAssigner(dataFactory, leaves);
  const pushDown = new PushDown({
    demanding: (part, demand) => patterns.demanding(part, demand),
    counted: (group) => patterns.counted(group),
    surroundings: context.getSafe(surroundingsKey),
  });
  const assigned = algebraUtils.mapOperation(operation, {
    [Algebra.Types.SERVICE]: {
      preVisitor: () => ({ continue: false }),
      transform: (service: Algebra.Service) => {
        const source = sources.get(service.name.value);
        if (!source) throw new Error(`No clause stands for ${service.name.value}`);
        return leafOperation(source, dataFactory);
      },
    },
    [Algebra.Types.EXPRESSION]: {
      transform: (expression: Algebra.Expression) =>
        isExistence(expression)
          ? nameExists({ ...expression, input: pushDown.existing(expression.input) })
          : expression,
    },
    [Algebra.Types.FILTER]: {
      transform: (filter: Algebra.Filter) =>
        splitFilter(filter, {
          factory,
          split: (part) => patterns.parts(part),
          fix: (part, terms) => patterns.fixed(part, terms),
        }),
    },
    // It may keep every row (SPARQL 1.1 Query, section 15.3.2); Comunica's drops those whose values have one hash.
    [Algebra.Types.REDUCED]: { transform: ({ input }: Algebra.Reduced) => input },
    [Algebra.Types.EXTEND]: { transform: (extend: Algebra.Extend) => withPreparedInput(freshNodes(extend)) },
    [Algebra.Types.GROUP]: { transform: withPreparedInput },
    [Algebra.Types.ORDER_BY]: { transform: withPreparedInput },
    [Algebra.Types.CONSTRUCT]: { preVisitor: () => ({ ignoreKeys: new Set(["template", "metadata"]) }) },
    [Algebra.Types.BGP]: {
      preVisitor: () => ({ continue: false }),
      transform: (bgp: Algebra.Bgp) => patterns.bgp(bgp),
    },
    [Algebra.Types.PATH]: {
      preVisitor: () => ({ continue: false }),
      transform: (path: Algebra.Path) => patterns.path(path),
    },
    [Algebra.Types.JOIN]: { transform: (join: Algebra.Join) => patterns.join(join) },
    [Algebra.Types.UNION]: { transform: (union: Algebra.Union) => patterns.union(union) },
  });
  return pushDown.query(assigned);
}

const isExistence = (expression: Algebra.Expression): expression is Algebra.ExistenceExpression =>
  expression.subType === "existence";

/** `FILTER(a && b)` as two filters, so that EXISTS is asked only for what the other parts let through. */
function splitFilter({ input, expression }: Algebra.Filter, options: EquatedPartsOptions): Algebra.Operation {
  const group = equatedParts({ input, conditions: conditionsOf(expression) }, options);
  const asking = group.conditions.filter((part) => existencesIn(part).length > 0);
  const ordered = [...group.conditions.filter((part) => !asking.includes(part)), ...asking];
  return ordered.reduce((inner, part) => withPreparedInput(options.factory.createFilter(inner, part)), group.input);
}

function conditionsOf(expression: Algebra.Expression): readonly Algebra.Expression[] {
  const { operator, args = [] } = expression as Partial<Algebra.OperatorExpression>;
  return operator === "&&" ? args.flatMap((arg) => conditionsOf(arg)) : [expression];
}

/** Terms that FILTERs demand of variables. */
export type FixedTerms = ReadonlyMap<string, RDF.NamedNode | RDF.Literal>;

/** Turns groups of patterns into leaves over the merged graph, in one query. */
class PatternAssigner {
  readonly #factory: AlgebraFactory;
  readonly #dataFactory: ComunicaDataFactory;
  readonly #leaves: PatternLeaves | undefined;

  /** @param leaves undefined: patterns have no data */
  constructor(dataFactory: ComunicaDataFactory, leaves: PatternLeaves | undefined) {
    this.#factory = new AlgebraFactory(dataFactory);
    this.#dataFactory = dataFactory;
    this.#leaves = leaves;
  }

  bgp(bgp: Algebra.Bgp): Algebra.Operation {
    return bgp.patterns.length === 0 ? bgp : this.#leafFor(bgp, bgpConjuncts(bgp));
  }

  path(path: Algebra.Path): Algebra.Operation {
    const leaves = this.#leaves;
    return this.#leafFor(path, leaves && pathConjuncts(path, () => leaves.fresh()));
  }

  /** Neighbouring leaves are one leaf, so that OPTIONAL, EXISTS and joins ask them with their keys as a whole. */
  join(join: Algebra.Join): Algebra.Operation {
    const groups = join.input.flatMap((input) => conjunctsOf(input) ?? []);
    const others = join.input.filter((input) => !conjunctsOf(input));
    if (!this.#leaves || join.input.length - others.length < 2) return join;
    const leaf = this.#leaf(this.#leaves, groups);
    return others.length === 0 ? leaf : this.#factory.createJoin([leaf, ...others], false);
  }

  union(union: Algebra.Union): Algebra.Operation {
    const branches = union.input.flatMap((input) => {
      const conjuncts = conjunctsOf(input);
      return conjuncts ? [conjuncts] : [];
    });
    if (!this.#leaves || branches.length < union.input.length) return union;
    return this.#leaf(this.#leaves, [{ kind: "union", branches }]);
  }

  /** The leaves of a leaf's parts that share no variable; what is no leaf stays as it is. */
  parts(operation: Algebra.Operation): readonly Algebra.Operation[] {
    const leaves = this.#leaves;
    const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
    return leaves && parts.length > 1 ? parts.map((part) => this.#leaf(leaves, part)) : [operation];
  }

  /** The operation with terms in place of a leaf's variables, which keep these values. */
  fixed(operation: Algebra.Operation, terms: FixedTerms): Algebra.Operation {
    const leaves = this.#leaves;
    let conjuncts = conjunctsOf(operation) ?? [];
    const fixed = new Map<string, RDF.NamedNode | RDF.Literal>();
    for (const { name } of groupVariables(conjuncts)) {
      const term = terms.get(name);
      const replaced: readonly Conjunct[] | undefined = term && withTerm(conjuncts, name, term);
      if (!term || !replaced) continue;
      conjuncts = replaced;
      fixed.set(name, term);
    }
    if (!leaves || fixed.size === 0) return operation;
    const variables = [...fixed.keys()].map((name) => leaves.variable(name));
    const values = this.#factory.createValues(variables, [Object.fromEntries(fixed)]);
    return this.#factory.createJoin([values, this.#leaf(leaves, conjuncts)], false);
  }

  /** The leaf, of which this is wanted; undefined for what is no leaf of patterns. */
  demanding(operation: Algebra.Operation, demand: Omit<GroupDemand, "variables">): Algebra.Operation | undefined {
    const leaves = this.#leaves;
    const group = leaves && this.#withOptionals(leaves, operation);
    if (!group) return undefined;
    const { conjuncts, optionals } = group;
    return leafOperation(leaves.demanding(conjuncts, { ...demand, optionals }), this.#dataFactory);
  }

  /** The conjuncts of a leaf, and the OPTIONALs on top of it that it takes along; undefined when one cannot. */
  #withOptionals(leaves: PatternLeaves, operation: Algebra.Operation): GroupWithOptionals | undefined {
    const conjuncts = conjunctsOf(operation);
    if (conjuncts) return { conjuncts };
    if (operation.type !== Algebra.Types.LEFT_JOIN) return undefined;
    const { input, expression } = operation as Algebra.LeftJoin;
    const left = input[0] && !expression && this.#withOptionals(leaves, input[0]);
    const patterns = triplesIn((input[1] && conjunctsOf(input[1])) ?? []);
    if (!left || !patterns || !leaves.takesAlong(left.conjuncts, patterns)) return undefined;
    return { ...left, optionals: [...(left.optionals ?? []), patterns] };
  }

  /** The group over what members count; undefined where they cannot. */
  counted(group: Algebra.Group): Algebra.Operation | undefined {
    const conjuncts = conjunctsOf(group.input);
    return this.#leaves && conjuncts && countedGroup(group, this.#leaves, conjuncts);
  }

  #leafFor(operation: Algebra.Operation, conjuncts: readonly Conjunct[] | undefined): Algebra.Operation {
    if (this.#leaves && conjuncts) return this.#leaf(this.#leaves, conjuncts);
    return this.#factory.createValues(algebraUtils.inScopeVariables(operation), []);
  }

  #leaf(leaves: PatternLeaves, conjuncts: readonly Conjunct[]): Algebra.Operation {
    return leafOperation(leaves.leaf(conjuncts), this.#dataFactory);
  }
}

type GroupWithOptionals = Pick<GroupDemand, "optionals"> & { readonly conjuncts: readonly Conjunct[] };

/** The conjuncts behind a leaf of patterns. */
function conjunctsOf({ metadata }: Algebra.Operation): readonly Conjunct[] | undefined {
  const assigned = metadata?.["scopedSource"] as { readonly source?: unknown } | undefined;
  const clause = assigned?.source instanceof ClauseSource ? assigned.source.clause : undefined;
  return clause instanceof PatternClause ? clause.conjuncts : undefined;
}

const ROW = "fedway_row";
const xsdString = "http://www.w3.org/2001/XMLSchema#string";

/**
 * BNODE() makes nodes that no other solution and no endpoint has, and one node of one string within a solution (SPARQL 1.1
 * Query, section 17.4.2.9). Comunica tells solutions apart behind projections only, by a number behind the label, which
 * other labels may end in. Here a solution has a name of its own, which the labels begin with.
 */
function createFreshNodes(dataFactory: ComunicaDataFactory): (extend: Algebra.Extend) => Algebra.Extend {
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
