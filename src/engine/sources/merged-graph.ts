import type * as RDF from "@rdfjs/types";
import type { ClauseVariable, PlannedEndpoint, MergedMembers } from "../../plan/query-plan.ts";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Bindings } from "../../results/model.ts";
import { type BlockSizes, type KeyBlock, termsText } from "../clause-query.ts";
import { isSummable, summarisesFor, type Summary, type UnitDemand } from "../demand.ts";
import { BRANCH, type UnitBranch } from "../united-clause.ts";
import { once } from "../held-bytes.ts";
import type { ExecutionAccount } from "../execution-account.ts";
import { interleave } from "../interleave.ts";
import { type Holders, KeyRoutes } from "./key-routes.ts";
import type { AskNodes } from "./subject-homes.ts";
import {
  hasGraphs,
  hasSubject,
  mergesGraphs,
  type PatternUnit,
  UnitPlanner,
  type UnitSource,
  unitVariables,
} from "./pattern-units.ts";
import { type Graphs, placesOf, type TriplePattern } from "./triple-pattern.ts";
import { literalFromParts } from "../../results/terms.ts";
import { type Member, type MemberQuestion, type QueryNeeds, wholePattern } from "./member.ts";
import type { OpenPatternSource } from "./pattern-source.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import { isLost, sourceReport } from "../executor.ts";
import { memberTimeMs } from "../member-time.ts";
import { createMatchedMember } from "./matched-member.ts";
import { createSparqlMember } from "./sparql-member.ts";

// Rows of the branches of a UNION that a member is asked for together: fewer than those at which endpoints cut answers.
const MOST_UNITED = 999;
// All members of usual federations are asked at once; of larger ones as many.
const MEMBERS_AT_ONCE = 24;

/**
 * The RDF merge (RDF 1.1 Semantics, section 4.1) of the members' datasets within one execution: of their default graphs, and of
 * their named graphs of one name.
 */
export class MergedGraph {
  readonly #over: MergedMembers;
  readonly #options: OpenGraphOptions;
  readonly #opened = new Map<number, Member>();
  readonly #planner: UnitPlanner;
  readonly #routes: KeyRoutes;

  constructor(over: MergedMembers, options: OpenGraphOptions) {
    this.#over = over;
    this.#options = options;
    this.#planner = new UnitPlanner(over);
    const { needs, bounds } = options;
    const holders = over.selection && options.holders;
    this.#routes = new KeyRoutes(over.members, {
      needs,
      holders,
      bounds,
      holding: options.account.held.open(),
      askNodes: (among, members, found) => this.#findNodes(among, members, found),
    });
  }

  /** The patterns of a group as they are asked. */
  unitsOf(patterns: readonly TriplePattern[]): readonly PatternUnit[] {
    return this.#planner.unitsOf(patterns);
  }

  /** True if the solutions of a unit can be summarised at its members: none counts twice. */
  canSummarise(unit: PatternUnit, summary: Summary): boolean {
    const isTop = "order" in summary;
    if (isTop ? !unitVariables(unit).every((name) => isNoBlankNode(unit, name)) : unit.overlaps) return false;
    return unit.sources.every((source) => {
      const endpoint = this.#over.members[source.member];
      const known = (name: string) => knownVariable(unit, source, name);
      return endpoint !== undefined && summarisesFor(endpoint) && isSummable(summary, known, source.size);
    });
  }

  /** A variable of a unit, with the kind of its values where they are of one kind at all of its members. */
  variableOf(unit: PatternUnit, name: string): ClauseVariable {
    const [first, ...others] = unit.sources.map((source) => knownVariable(unit, source, name)?.kind);
    const noLiterals =
      hasSubject(unit, name) ||
      unit.sources.every(({ spaces }) => spaces.get(name)?.some((space) => space.noLiterals) === true);
    const kind = others.every((other) => other === first) ? first : undefined;
    return { name, certain: true, kind, noLiterals: noLiterals || undefined };
  }

  /** True if OPTIONAL patterns can be asked along with a unit: their matches for a solution are at its member alone. */
  takesOptional(unit: PatternUnit, optional: readonly TriplePattern[]): boolean {
    const other = this.#planner.besides(unit, optional);
    const isAble = ({ member }: UnitSource): boolean => {
      const endpoint = this.#over.members[member];
      return [endpoint, endpoint?.mirror].every((one) => one?.optionals === undefined);
    };
    if (!other || !unit.sources.every(isAble)) return false;
    const own = new Set(unitVariables(unit));
    const patterns = [...unit.patterns, ...optional];
    return [...own, ...unitVariables(other)].every(
      (name) =>
        !this.#options.needs.identified(name, placesOf(name, patterns)) ||
        isNoBlankNode(own.has(name) ? unit : other, name),
    );
  }

  /** The solutions of one pattern. */
  async *matches(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<readonly Bindings[]> {
    for (const unit of this.unitsOf([pattern])) yield* this.solutions(unit, wholePattern(pattern), keys);
  }

  /**
   * The solutions of a unit for the wanted variables, compatible with one of the keys when given: a triple that several
   * members have counts once. Keys bind some of the unit's variables, blank nodes to labels of this execution. Each member
   * is asked for those keys only that it may have.
   */
  async *solutions(unit: PatternUnit, demand: UnitDemand, keys?: KeyBlock): AsyncIterable<readonly Bindings[]> {
    const { patterns, overlaps } = unit;
    const { summary } = demand;
    const isMerge = mergesGraphs(unit);
    // Where it does not matter how often a solution comes, members need not tell apart what is not looked at.
    const names = overlaps && demand.distinct ? [...demand.variables] : unitVariables(unit);
    const question = {
      ...demand,
      patterns,
      variables: overlaps ? new Set(names) : demand.variables,
      // Of the rows that a member counts, several may be one.
      limit: isMerge ? undefined : demand.limit,
    };
    const blocks = await this.#routes.blocksFor(unit, keys);
    const sources = unit.sources.filter(({ member }) => blocks.has(member));
    const asked = sources.map((source) => {
      const { member, size } = source;
      const known = (name: string) => knownVariable(unit, source, name);
      const own = { ...question, size, known };
      const rowsAt = (at: Member) => {
        const ask = (made?: Summary) => at.solutions({ ...own, summary: made }, blocks.get(member));
        return (summary && "order" in summary && summary.withTies?.(ask)) || ask(summary);
      };
      return { member, ask: (at: Member) => this.#learned(() => unit, rowsAt(at), member) };
    });
    const rows = this.#ask(asked);
    yield* overlaps && (asked.length > 1 || isMerge)
      ? once(rows, (row) => termsText(names.map((name) => row.get(name))), this.#options.account.held.open())
      : rows;
  }

  /**
   * True if branches of a UNION are asked together: some member has several, with few rows that differ in nothing but these.
   */
  canUnite(branches: readonly UnitBranch[]): boolean {
    const rows = new Map<number, number[]>();
    for (const { member, size = Number.POSITIVE_INFINITY } of branches.flatMap(({ unit }) => unit.sources)) {
      rows.set(member, [...(rows.get(member) ?? []), size]);
    }
    return (
      [...rows.values()].some((sizes) => sizes.length > 1) &&
      [...rows.values()].every((sizes) => sizes.reduce((sum, size) => sum + size, 0) <= MOST_UNITED)
    );
  }

  /** True if a unit may be asked together with other branches of a UNION. */
  isBranch({ unit, demand: { limit, summary, optionals = [], variables } }: UnitBranch): boolean {
    const { patterns, overlaps, sources } = unit;
    const isWhole = !overlaps && limit === undefined && summary === undefined && optionals.length === 0;
    const isAble = ({ member }: UnitSource): boolean => {
      const endpoint = this.#over.members[member];
      return endpoint !== undefined && summarisesFor(endpoint);
    };
    const hasOneLabel = (name: string): boolean =>
      !this.#options.needs.identified(name, placesOf(name, patterns)) || isNoBlankNode(unit, name);
    return isWhole && variables.size > 0 && sources.every(isAble) && unitVariables(unit).every(hasOneLabel);
  }

  /** The solutions of the branches of a UNION, with the branch's number in `BRANCH`: one request for each member. */
  async *united(branches: readonly UnitBranch[], keys?: KeyBlock): AsyncIterable<readonly Bindings[]> {
    const blocks = await Promise.all(branches.map(({ unit }) => this.#routes.blocksFor(unit, keys)));
    const unitOf = (row: Bindings): PatternUnit => {
      const branch = branches[Number(row.get(BRANCH)?.value)];
      if (!branch)
        throw new FedwayError("ENDPOINT_MALFORMED", "The endpoint gave a row of no branch.", { fault: "malformed" });
      return branch.unit;
    };
    const members = new Set(blocks.flatMap((own) => [...own.keys()]));
    const asked = [...members].map((member): AskedMember => {
      const own = branches.flatMap(({ unit, demand }, number) => {
        const source = unit.sources.find((one) => one.member === member);
        return source && blocks[number]?.has(member)
          ? [[number, { ...demand, patterns: unit.patterns, size: source.size }] as const]
          : [];
      });
      const rows = new Set(blocks.flatMap((of) => of.get(member)?.rows ?? []));
      const block = keys && { variables: keys.variables, rows: [...rows] };
      return { member, ask: (at) => this.#learned(unitOf, united(at, new Map(own), block), member) };
    });
    yield* this.#ask(asked);
  }

  async *#learned(
    unitOf: (row: Bindings) => PatternUnit,
    rows: AsyncIterable<readonly Bindings[]>,
    member: number,
  ): AsyncIterable<readonly Bindings[]> {
    for await (const batch of rows) {
      const [first] = batch;
      if (first) this.#routes.gave(unitOf(first), member);
      for (const row of batch) this.#routes.learn(unitOf(row), row, member);
      yield batch;
    }
  }

  /** Those of the nodes that are subject or object of a triple of these graphs, as `?node`, by each member that has them. */
  nodes(among: readonly RDF.Term[], graphs: Graphs | undefined): AsyncIterable<readonly Bindings[]> {
    const members = [...this.#over.members.keys()].filter((index) => hasGraphs(this.#over.members[index], graphs));
    return this.#ask(members.map((member) => ({ member, ask: (at) => at.nodes(among, graphs) })));
  }

  async #findNodes(...[among, members, found]: Parameters<AskNodes>): Promise<void> {
    async function* noted(rows: AsyncIterable<readonly Bindings[]>, member: number): typeof rows {
      for await (const batch of rows) {
        for (const node of batch.flatMap((row) => row.get("node") ?? [])) found(node, member);
        yield batch;
      }
    }
    const asked = members.map(
      (member): AskedMember => ({ member, ask: (at) => noted(at.nodes(among, undefined), member) }),
    );
    for await (const _ of this.#ask(asked));
  }

  /** The size of a unit, as far as its members tell it. */
  async estimate({ patterns, sources }: PatternUnit): Promise<UnitEstimate> {
    const [pattern] = patterns;
    const estimates = await Promise.all(
      sources.map(async ({ member, size }) => {
        const isPaged = this.#over.members[member]?.interface === "tpf";
        const known =
          pattern && (isPaged || size === undefined) ? await this.#member(member).estimate(pattern) : undefined;
        return { size: size ?? known?.triples, pages: isPaged ? known?.requests : undefined };
      }),
    );
    const pages = sumOf(estimates.map((estimate) => estimate.pages));
    return {
      size: sumOf(estimates.map((estimate) => estimate.size)),
      keysForWhole: pages === undefined ? undefined : pages / Math.max(1, sources.length),
    };
  }

  #member(index: number): Member {
    const known = this.#opened.get(index);
    if (known) return known;
    const endpoint = this.#over.members[index];
    if (!endpoint) throw new Error(`A selection names member ${index}, which the federation does not have`);
    const opened = openMember(endpoint, { ...this.#options, prefix: `m${index}_` });
    this.#opened.set(index, opened);
    return opened;
  }

  /** Asks members; with `partial`, an execution outlives the failure of one, which is not asked again. */
  #ask(questions: readonly AskedMember[]): AsyncIterable<readonly Bindings[]> {
    const { sources } = this.#options.bounds;
    const at = (index: number): Member => this.#member(index);
    async function* asked(): AsyncIterable<AsyncIterable<readonly Bindings[]>> {
      for (const { member, ask } of questions) {
        const opened = at(member);
        const { id, url } = opened.endpoint;
        const report = sources.get(id ?? url);
        if (report === undefined || !isLost(report)) yield ask(opened);
      }
    }
    return interleave(asked(), MEMBERS_AT_ONCE);
  }
}

/** The size of a unit. */
interface UnitEstimate {
  /** About how many solutions there are; undefined when that is not known of one member. */
  readonly size: number | undefined;
  /** Keys that take as many requests as all solutions, where its members are asked key by key. */
  readonly keysForWhole: number | undefined;
}

/** Undefined when one is. */
const sumOf = (numbers: readonly (number | undefined)[]): number | undefined =>
  numbers.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);

interface AskedMember {
  readonly member: number;
  readonly ask: (member: Member) => AsyncIterable<readonly Bindings[]>;
}

/** Options of opening the members of one execution. */
interface OpenGraphOptions {
  readonly executor: ClauseExecutor;
  readonly bounds: ExecutionBounds;
  readonly needs: QueryNeeds;
  readonly sizes: BlockSizes;
  readonly openSource: OpenPatternSource;
  readonly holders?: Holders | undefined;
  readonly account: ExecutionAccount;
}

interface MemberOptions extends OpenGraphOptions {
  readonly prefix: string;
}

const isPredicate = ({ patterns }: PatternUnit, name: string): boolean =>
  patterns.some(({ predicate }) => predicate.termType === "Variable" && predicate.value === name);

/** Known facts of a variable at a member. */
function knownVariable(unit: PatternUnit, { spaces, values }: UnitSource, name: string): ClauseVariable | undefined {
  if (isPredicate(unit, name)) return { name, certain: true, kind: "property" };
  const places = spaces.get(name) ?? [];
  const isIri = places.some(({ noLiterals }) => noLiterals) && places.some(({ noBlankNodes }) => noBlankNodes);
  const kind = isIri ? "iri" : places.find((space) => space.kind !== undefined)?.kind;
  return spaces.has(name) ? { name, certain: true, kind, values: values.get(name) } : undefined;
}

/** Variables with blank nodes that need one label in all answers are asked pattern by pattern. */
const isNoBlankNode = (unit: PatternUnit, name: string): boolean =>
  isPredicate(unit, name) ||
  unit.sources.every(({ spaces }) => spaces.get(name)?.some(({ noBlankNodes }) => noBlankNodes) === true);

/** The solutions of branches at a member; of a single one it is asked for nothing else. */
async function* united(
  member: Member,
  branches: ReadonlyMap<number, MemberQuestion>,
  keys: KeyBlock | undefined,
): AsyncIterable<readonly Bindings[]> {
  const [[number, only] = []] = branches;
  if (!only || branches.size > 1) {
    yield* member.united?.(branches, keys) ?? [];
    return;
  }
  const branch = literalFromParts(String(number));
  for await (const rows of member.solutions(only, keys)) yield rows.map((row) => new Map(row).set(BRANCH, branch));
}

function openMember(endpoint: PlannedEndpoint, options: MemberOptions): Member {
  if (endpoint.interface === undefined) return createSparqlMember({ endpoint, ...options });
  const { bounds, openSource } = options;
  const { now } = options.account;
  const report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
  const { signal, trace } = bounds;
  const deadlineMs = now() + memberTimeMs(bounds, now(), bounds.partial !== false);
  const inPart = bounds.partial === true;
  const source = openSource(endpoint, { signal, deadlineMs, report, inPart, owner: { endpoint: endpoint.id, trace } });
  return createMatchedMember({ ...options, endpoint, source });
}
