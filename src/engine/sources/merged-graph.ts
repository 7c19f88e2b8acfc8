import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint, MergedMembers } from "../../plan/query-plan.ts";
import { inBatches, itemsOf } from "../../results/item-reader.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import { type KeyBlock, type BlockSizes, termsText } from "../clause-query.ts";
import { countsFor } from "../demand.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { type Holders, KeyRoutes } from "./key-routes.ts";
import { type PatternUnit, UnitPlanner, type UnitSource, unitVariables } from "./pattern-units.ts";
import { placesOf, type TriplePattern, variablesOf } from "./triple-pattern.ts";
import type { MatchEstimate, OpenPatternSource } from "./pattern-source.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { tracedTo } from "../provenance.ts";
import { isLost, sourceReport } from "../executor.ts";
import { memberTimeMs } from "../member-time.ts";
import { createMatchedMember } from "./matched-member.ts";
import { createSparqlMember } from "./sparql-member.ts";

// All members of usual federations are asked at once; of larger ones as many.
const MEMBERS_AT_ONCE = 24;

/** The RDF merge of the members' default graphs (RDF 1.1 Semantics, section 4.1) within one execution. */
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
    this.#routes = new KeyRoutes(over.members, { needs, holders, bounds, holding: options.held.open() });
  }

  /** The patterns of a group as they are asked. */
  unitsOf(patterns: readonly TriplePattern[]): readonly PatternUnit[] {
    return this.#planner.unitsOf(patterns);
  }

  /** Whether the solutions of a unit can be counted at its members: none counts twice, and groups are named by IRIs. */
  canCount(unit: PatternUnit, by: readonly string[]): boolean {
    const counts = ({ member }: UnitSource): boolean => {
      const endpoint = this.#over.members[member];
      return endpoint !== undefined && countsFor(endpoint);
    };
    return (
      !unit.overlaps && unit.sources.every((source) => counts(source) && by.every((name) => isIri(unit, source, name)))
    );
  }

  /** Whether OPTIONAL patterns can be asked along with a unit: their matches for a solution are at its member alone. */
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
  async *matches(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings> {
    const variables = variablesOf(pattern);
    for (const unit of this.unitsOf([pattern])) yield* this.solutions(unit, { variables }, keys);
  }

  /**
   * The solutions of a unit for the wanted variables, compatible with one of the keys when given: a triple that several
   * members have counts once. Keys bind some of the unit's variables, blank nodes to labels of this execution. Each member
   * is asked for those keys only that it may have.
   */
  solutions(unit: PatternUnit, wanted: Wanted, keys?: KeyBlock): AsyncIterable<Bindings> {
    return itemsOf(this.#solutions(unit, wanted, keys));
  }

  async *#solutions(unit: PatternUnit, wanted: Wanted, keys?: KeyBlock): AsyncIterable<readonly Bindings[]> {
    const variables = unit.overlaps ? unitVariables(unit) : wanted.variables;
    const question = { ...wanted, variables, patterns: unit.patterns };
    const blocks = await this.#routes.blocksFor(unit, keys);
    const asked = unit.sources
      .filter(({ member }) => blocks.has(member))
      .map(({ member, size }) => ({
        member,
        ask: (at: Member) => this.#learned(unit, at.solutions({ ...question, size }, blocks.get(member)), member),
      }));
    if (unit.overlaps && asked.length > 1) yield* this.#distinct(variables, this.#ask(asked));
    else yield* this.#ask(asked);
  }

  async *#distinct(
    variables: readonly string[],
    rows: AsyncIterable<readonly Bindings[]>,
  ): AsyncIterable<readonly Bindings[]> {
    const seen = new Set<string>();
    const holding = this.#options.held.open();
    const isNew = (row: Bindings): boolean => {
      const key = termsText(variables.map((name) => row.get(name)));
      if (seen.has(key)) return false;
      holding.add(keyBytes(key));
      seen.add(key);
      return true;
    };
    try {
      for await (const batch of rows) yield batch.filter(isNew);
    } finally {
      holding.release();
    }
  }

  async *#learned(
    unit: PatternUnit,
    rows: AsyncIterable<Bindings>,
    member: number,
  ): AsyncIterable<readonly Bindings[]> {
    const { provenance } = this.#options.bounds;
    const { id, url } = this.#member(member).endpoint;
    for await (const batch of inBatches(rows)) {
      for (const row of batch) this.#routes.learn(unit, row, member);
      yield provenance ? tracedTo(id ?? url, batch) : batch;
    }
  }

  /** Those of the nodes that are subject or object of a triple, each once. */
  async *nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term> {
    const seen = new Set<string>();
    const asked = [...this.#over.members.keys()].map((member) => ({ member, ask: (at: Member) => at.nodes(among) }));
    for await (const node of this.#ask(asked)) {
      const key = termToText(node);
      if (!seen.has(key)) yield node;
      seen.add(key);
    }
  }

  /** About how many solutions there are; undefined when that is not known of one member. */
  async estimate({ patterns, sources }: PatternUnit): Promise<number | undefined> {
    const [pattern] = patterns;
    const sizes = await Promise.all(
      sources.map(async ({ member, size }) => {
        if (size !== undefined || !pattern) return size;
        return (await this.#member(member).estimate(pattern))?.triples;
      }),
    );
    const known = sizes.filter((size) => size !== undefined);
    return known.length < sizes.length ? undefined : known.reduce((sum, size) => sum + size, 0);
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
  #ask<T>(questions: readonly AskedMember<T>[]): AsyncIterable<T> {
    const { sources } = this.#options.bounds;
    const at = (index: number): Member => this.#member(index);
    async function* asked(): AsyncIterable<AsyncIterable<T>> {
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

interface AskedMember<T> {
  readonly member: number;
  readonly ask: (member: Member) => AsyncIterable<T>;
}

/** What is wanted of a unit's solutions. */
export interface Wanted {
  /** Those of its variables that are looked at; there are as many solutions as if they were all. */
  readonly variables: readonly string[];
  /** FILTER expressions over its variables that rows may be left out by, not more: whoever asks looks again. */
  readonly conditions?: readonly string[] | undefined;
  /** Each solution is wanted once. */
  readonly distinct?: boolean | undefined;
  /** Solutions beyond this many are not wanted of a member. */
  readonly limit?: number | undefined;
  /** Wanted is how many solutions there are of each kind by `variables`, under this name. */
  readonly count?: string | undefined;
  /** Further patterns, in OPTIONAL each, that have matches for a solution at its member alone. */
  readonly optionals?: readonly (readonly TriplePattern[])[] | undefined;
  /** Those of their variables that are looked at. */
  readonly uncertain?: readonly string[] | undefined;
}

/** What one member is asked. */
export interface MemberQuestion extends Wanted {
  readonly patterns: readonly TriplePattern[];
  /** About how many solutions it has, where that is known. */
  readonly size?: number | undefined;
}

/**
 * One member of a merged graph within one execution. A blank node of a member has one label wherever it is met in the
 * execution, and no label of another member.
 */
export interface Member {
  readonly endpoint: PlannedEndpoint;
  /** Solutions that are compatible with one of the keys. One that does not speak SPARQL is asked for one pattern at a time. */
  solutions(question: MemberQuestion, keys: KeyBlock | undefined): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** Undefined when it cannot be told without asking for the solutions. */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** What the whole query asks of its patterns. */
export interface QueryNeeds {
  /**
   * Variables that are compared, joined or told apart: their blank nodes need one label in all answers. Those of the others
   * may have a new label in each answer. @param inside in how many places it stands in what is asked as one
   */
  identified(variable: string, inside: number): boolean;
  /** Every pattern that the execution may ask for, keys aside. */
  readonly patterns: readonly TriplePattern[];
}

/** What the members of one execution are opened with. */
interface OpenGraphOptions {
  readonly executor: ClauseExecutor;
  readonly bounds: ExecutionBounds;
  readonly needs: QueryNeeds;
  readonly sizes: BlockSizes;
  readonly openSource: OpenPatternSource;
  readonly holders?: Holders | undefined;
  /** Counts a triple taken in from a member that does not speak SPARQL; throws when there are too many. */
  readonly count: () => void;
  /** Memory account of the evaluation. */
  readonly held: HeldBytes;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

interface MemberOptions extends OpenGraphOptions {
  readonly prefix: string;
}

/**
 * A variable has no values but IRIs at a member. Literals that are equal may be one group there, whatever their spelling;
 * blank nodes would be other ones in each answer.
 */
function isIri({ patterns }: PatternUnit, { spaces }: UnitSource, name: string): boolean {
  if (patterns.some(({ predicate }) => predicate.termType === "Variable" && predicate.value === name)) return true;
  const known = spaces.get(name) ?? [];
  return known.some(({ noLiterals }) => noLiterals) && known.some(({ noBlankNodes }) => noBlankNodes);
}

/** What has blank nodes that need one label in all answers is asked pattern by pattern. */
const isNoBlankNode = ({ patterns, sources }: PatternUnit, name: string): boolean =>
  patterns.some(({ predicate }) => predicate.termType === "Variable" && predicate.value === name) ||
  sources.every(({ spaces }) => spaces.get(name)?.some(({ noBlankNodes }) => noBlankNodes) === true);

function openMember(endpoint: PlannedEndpoint, options: MemberOptions): Member {
  if (endpoint.interface === undefined) return createSparqlMember({ endpoint, ...options });
  const { bounds, openSource, now } = options;
  const report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
  const { signal, trace } = bounds;
  const deadlineMs = now() + memberTimeMs(bounds, now(), bounds.partial !== false);
  const source = openSource(endpoint, { signal, deadlineMs, report, owner: { endpoint: endpoint.id, trace } });
  return createMatchedMember({ ...options, endpoint, source, report });
}
