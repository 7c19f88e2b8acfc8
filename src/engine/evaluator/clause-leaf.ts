import type { ClauseVariable, FederatedClause } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import type { BlockSizes, KeyBlock } from "../clause-query.ts";
import type { ClauseSizes } from "../clause-sizes.ts";
import {
  checkedSummary,
  demandedClause,
  type LeafDemand,
  type PushedCondition,
  type Summary,
  summarisingClause,
  type Top,
} from "../demand.ts";
import { createBoundTargetRows, type BoundTargetOptions } from "../bound-target.ts";
import { createLabelledRows, type LabelledRowsOptions } from "../labelled-rows.ts";
import { firstRows } from "./first-rows.ts";
import { innerName, outerName } from "./inner-names.ts";
import type { LeafClause } from "./leaf.ts";

/** Options of clause leaves. */
export interface ClauseLeafOptions extends LabelledRowsOptions {
  readonly clauseSizes: ClauseSizes;
  readonly sizes: BlockSizes;
  readonly boundTargets: Omit<BoundTargetOptions, "rowsOf">;
}

/** A SERVICE clause as its leaf asks it. */
export function toLeafClause(clause: FederatedClause, options: ClauseLeafOptions): LeafClause {
  const { targetVariable: target } = clause;
  const bound = boundVariables(clause);
  const variables = bound.map((variable) => ({ ...variable, name: innerName(variable.name) }));
  const renames = bound.some(({ name }) => innerName(name) !== name);
  const size = options.clauseSizes.of(clause);
  let isInBlocks = false;
  const askedRows = (asked: FederatedClause) => createLabelledRows(asked, { ...options, inBlocks: () => isInBlocks });
  const solutions =
    target === undefined
      ? askedRows(clause)
      : createBoundTargetRows(clause, target, { ...options.boundTargets, rowsOf: askedRows });
  const summaryLeaf = (summary: Summary): LeafClause | undefined => {
    const made = summarisingClause({ ...clause, estimate: options.clauseSizes.of(clause) }, outerSummary(summary));
    return made && toSummary(toLeafClause(made, options), summary, clause);
  };
  return {
    ...clause,
    variables,
    targetVariable: target && innerName(target),
    size,
    isDistinct: (name) =>
      variables.some((one) => one.name === name && (one.values ?? 0) >= (size ?? Number.POSITIVE_INFINITY)),
    blocks: options.sizes.at(clause.endpoint.url),
    blankKeys: false,
    correlated: clause.substitution?.variables.map(innerName),
    demanding: (demand) => toLeafClause(demandedClause(clause, outerDemand(demand)), options),
    summarising(summary) {
      const made = summaryLeaf(summary);
      if (!made || !("order" in summary) || !summary.withTies) return made;
      const { withTies } = summary;
      const all = toLeafClause(clause, options);
      const ask = (keys?: KeyBlock) => (top?: Top) => ((top && summaryLeaf(top)) ?? all).solutions(keys);
      return { ...made, solutions: (keys) => withTies(ask(keys)) };
    },
    substituting: (names) => toLeafClause(substituting(clause, names.map(outerName)), options),
    substituted: clause.substituted?.map(innerName),
    askedInBlocks() {
      isInBlocks = true;
    },
    solutions(keys, wanted, conditions = []) {
      const narrowed = conditions.length > 0 ? narrowedClause(clause, conditions) : clause;
      const asked = solutions(keys && { ...keys, variables: keys.variables.map(outerName) }, narrowed);
      const isMeasured = !keys && narrowed === clause && !clause.silent && clause.limit === undefined;
      const all = isMeasured ? measured(asked, clause, options) : asked;
      // A limit of its own is as low.
      const few = isMeasured && target === undefined ? wanted : undefined;
      const ask = (limit?: number) => (limit === undefined ? all : askedRows({ ...clause, limit })(undefined));
      const rows = few === undefined ? all : firstRows(ask, { wanted: few, size, held: options.held });
      return renames ? renamed(rows) : rows;
    },
  };
}

/** The demand under the names of the clause's own text; conditions on variables with other names are left out. */
function outerDemand(demand: LeafDemand): LeafDemand {
  const conditions = demand.conditions.filter(({ variables }) => variables.every((name) => outerName(name) === name));
  return { ...demand, conditions, variables: new Set([...demand.variables].map(outerName)) };
}

/** The clause with conditions added. */
function narrowedClause(clause: FederatedClause, conditions: readonly PushedCondition[]): FederatedClause {
  const variables = new Set(boundVariables(clause).map(({ name }) => innerName(name)));
  return demandedClause(clause, outerDemand({ conditions, variables, distinct: false }));
}

function outerSummary(summary: Summary): Summary {
  if ("order" in summary) return { ...summary, order: outerName(summary.order) };
  const aggregates = summary.aggregates.map(({ name, of, as }) => ({ name, of: outerName(of), as: outerName(as) }));
  return { by: summary.by.map(outerName), aggregates };
}

/** The leaf of a summary, whose rows are checked. */
function toSummary(leaf: LeafClause, summary: Summary, { endpoint, variables }: FederatedClause): LeafClause {
  const known = (name: string) => variables.find((variable) => variable.name === outerName(name));
  async function* checked(rows: AsyncIterable<readonly Bindings[]>): AsyncIterable<readonly Bindings[]> {
    for await (const batch of rows) yield checkedSummary(batch, summary, { known, endpoint });
  }
  return { ...leaf, solutions: (keys) => checked(leaf.solutions(keys)) };
}

/** Variables that the solutions of a clause bind, including its target where that is a variable. */
function boundVariables({ variables, targetVariable: target }: FederatedClause): readonly ClauseVariable[] {
  if (target === undefined) return variables;
  return [...variables.filter(({ name }) => name !== target), { name: target, certain: true }];
}

/** The rows; their number is remembered when they are all. */
async function* measured(
  rows: AsyncIterable<readonly Bindings[]>,
  clause: FederatedClause,
  { clauseSizes }: ClauseLeafOptions,
): AsyncIterable<readonly Bindings[]> {
  let count = 0;
  for await (const batch of rows) {
    count += batch.length;
    yield batch;
  }
  clauseSizes.note(clause, count);
}

async function* renamed(rows: AsyncIterable<readonly Bindings[]>): AsyncIterable<readonly Bindings[]> {
  for await (const batch of rows) yield batch.map(innerRow);
}

const innerRow = (row: Bindings): Bindings => new Map([...row].map(([name, term]) => [innerName(name), term]));

/** The values of its keys are among the solutions that it gives, wherever they stand in it. */
function substituting(clause: FederatedClause, substituted: readonly string[]): FederatedClause {
  const own = new Set(clause.variables.map(({ name }) => name));
  const added = substituted.filter((name) => !own.has(name)).map((name) => ({ name, certain: false }));
  return { ...clause, substituted, variables: [...clause.variables, ...added] };
}
