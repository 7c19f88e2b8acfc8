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
import { type EquatedPartsOptions, equatedParts } from "./equality-join.ts";
import { clauseSourcesKey, patternLeavesKey } from "./execution.ts";
import { createExistsNames } from "./existence.ts";
import { withPreparedInput, existencesIn } from "./prepared-input.ts";
import {
  bgpConjuncts,
  type Conjunct,
  connectedConjuncts,
  groupVariables,
  pathConjuncts,
  withTerm,
} from "./conjuncts.ts";
import { PatternClause, type PatternLeaves } from "./pattern-leaves.ts";

/**
 * Turns every SERVICE clause of a skeleton into the leaf of its source, and patterns outside the clauses into leaves over
 * the merged graph of the plan's members. In plans without such members they become the empty multiset of solutions.
 */
export class AssignClauses extends ActorOptimizeQueryOperation {
  override async test(_action: IActionOptimizeQueryOperation): Promise<TestResult<IActorTest>> {
    return passTestVoid();
  }

  override async run(action: IActionOptimizeQueryOperation): Promise<IActorOptimizeQueryOperationOutput> {
    return { operation: assign(action.operation, action.context), context: action.context };
  }
}

function assign(operation: Algebra.Operation, context: IActionContext): Algebra.Operation {
  const sources = context.getSafe(clauseSourcesKey);
  const dataFactory = context.getSafe(KeysInitQuery.dataFactory);
  const factory = new AlgebraFactory(dataFactory);
  const leaves = context.get(patternLeavesKey);
  leaves?.use.read(operation);
  const toOperation = (source: ClauseSource) => leafOperation(source, dataFactory);
  const nameExists = createExistsNames();
  const freshNodes = createFreshNodes(dataFactory);
  const patterns = createPatternAssigner({ leaves, factory, toOperation });
  return algebraUtils.mapOperation(operation, {
    [Algebra.Types.SERVICE]: {
      preVisitor: () => ({ continue: false }),
      transform: (service: Algebra.Service) => {
        const source = sources.get(service.name.value);
        if (!source) throw new Error(`No clause stands for ${service.name.value}`);
        return toOperation(source);
      },
    },
    [Algebra.Types.EXPRESSION]: {
      transform: (expression: Algebra.Expression) => withExistsName(expression, nameExists),
    },
    [Algebra.Types.FILTER]: {
      transform: (filter: Algebra.Filter) =>
        splitFilter(filter, { factory, split: patterns.parts, fix: patterns.fixed }),
    },
    // It may keep every row (SPARQL 1.1 Query, section 15.3.2); Comunica's drops those whose values have one hash.
    [Algebra.Types.REDUCED]: { transform: ({ input }: Algebra.Reduced) => input },
    [Algebra.Types.EXTEND]: { transform: (extend: Algebra.Extend) => withPreparedInput(freshNodes(extend)) },
    [Algebra.Types.GROUP]: { transform: withPreparedInput },
    [Algebra.Types.ORDER_BY]: { transform: withPreparedInput },
    [Algebra.Types.CONSTRUCT]: { preVisitor: () => ({ ignoreKeys: new Set(["template", "metadata"]) }) },
    [Algebra.Types.BGP]: { preVisitor: () => ({ continue: false }), transform: patterns.bgp },
    [Algebra.Types.PATH]: { preVisitor: () => ({ continue: false }), transform: patterns.path },
    [Algebra.Types.JOIN]: { transform: patterns.join },
    [Algebra.Types.UNION]: { transform: patterns.union },
  });
}

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

const withExistsName = (
  expression: Algebra.Expression,
  nameExists: ReturnType<typeof createExistsNames>,
): Algebra.Expression =>
  expression.subType === "existence" ? nameExists(expression as Algebra.ExistenceExpression) : expression;

/** Turns groups of patterns into leaves over the merged graph; undefined where patterns have no data. */
interface PatternAssigner {
  readonly bgp: (operation: Algebra.Bgp) => Algebra.Operation;
  readonly path: (operation: Algebra.Path) => Algebra.Operation;
  /** Neighbouring leaves are one leaf, so that OPTIONAL, EXISTS and joins ask them with their keys as a whole. */
  readonly join: (operation: Algebra.Join) => Algebra.Operation;
  readonly union: (operation: Algebra.Union) => Algebra.Operation;
  /** The leaves of a leaf's parts that share no variable; what is no leaf stays as it is. */
  readonly parts: (operation: Algebra.Operation) => readonly Algebra.Operation[];
  /** The operation with terms in place of a leaf's variables, which keep these values. */
  readonly fixed: (operation: Algebra.Operation, terms: FixedTerms) => Algebra.Operation;
}

/** Terms that FILTERs demand of variables. */
export type FixedTerms = ReadonlyMap<string, RDF.NamedNode | RDF.Literal>;

/** What the assigner builds with. */
interface AssignerOptions {
  /** Undefined: patterns have no data. */
  readonly leaves: PatternLeaves | undefined;
  readonly factory: AlgebraFactory;
  readonly toOperation: (source: ClauseSource) => Algebra.Operation;
}

/** Creates the assigner of one query. */
function createPatternAssigner(options: AssignerOptions): PatternAssigner {
  const { leaves, factory, toOperation } = options;
  const leafFor = (operation: Algebra.Operation, conjuncts: readonly Conjunct[] | undefined): Algebra.Operation => {
    if (leaves && conjuncts) return toOperation(leaves.leaf(conjuncts));
    return factory.createValues(algebraUtils.inScopeVariables(operation), []);
  };
  return {
    bgp: (bgp) => (bgp.patterns.length === 0 ? bgp : leafFor(bgp, bgpConjuncts(bgp))),
    path: (path) => leafFor(path, leaves && pathConjuncts(path, () => leaves.fresh())),
    join(join) {
      const groups = join.input.flatMap((input) => conjunctsOf(input) ?? []);
      const others = join.input.filter((input) => !conjunctsOf(input));
      if (!leaves || join.input.length - others.length < 2) return join;
      const leaf = toOperation(leaves.leaf(groups));
      return others.length === 0 ? leaf : factory.createJoin([leaf, ...others], false);
    },
    union(union) {
      const branches = union.input.flatMap((input) => {
        const conjuncts = conjunctsOf(input);
        return conjuncts ? [conjuncts] : [];
      });
      if (!leaves || branches.length < union.input.length) return union;
      return toOperation(leaves.leaf([{ kind: "union", branches }]));
    },
    fixed: (operation, terms) => fixLeaf(operation, terms, options),
    parts(operation) {
      const parts = connectedConjuncts(conjunctsOf(operation) ?? []);
      return leaves && parts.length > 1 ? parts.map((part) => toOperation(leaves.leaf(part))) : [operation];
    },
  };
}

function fixLeaf(operation: Algebra.Operation, terms: FixedTerms, options: AssignerOptions): Algebra.Operation {
  const { leaves, factory, toOperation } = options;
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
  const values = factory.createValues(variables, [Object.fromEntries(fixed)]);
  return factory.createJoin([values, toOperation(leaves.leaf(conjuncts))], false);
}

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
