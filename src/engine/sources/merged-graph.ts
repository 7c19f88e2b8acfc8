import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint, MergedMembers } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import { type KeyBlock, type BlockSizes, termsText } from "../clause-query.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { type TriplePattern, variablesOf } from "./triple-pattern.ts";
import type { MatchEstimate, OpenPatternSource } from "./pattern-source.ts";
import type { ClauseExecutor } from "../clause-executor.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { sourceReport } from "../executor.ts";
import { createMatchedMember } from "./matched-member.ts";
import { createSparqlMember } from "./sparql-member.ts";

// All members of usual federations are asked at once; of larger ones as many.
const MEMBERS_AT_ONCE = 24;

/** The RDF merge of the members' default graphs (RDF 1.1 Semantics, section 4.1) within one execution. */
export class MergedGraph {
  readonly #members: readonly Member[];
  readonly #bounds: ExecutionBounds;
  readonly #held: HeldBytes;

  constructor({ members }: MergedMembers, options: OpenGraphOptions) {
    this.#members = members.map((endpoint, index) => openMember(endpoint, { ...options, prefix: `m${index}_` }));
    this.#bounds = options.bounds;
    this.#held = options.held;
  }

  /**
   * The set of solutions of a pattern, compatible with one of the keys when given: a triple that several members have
   * counts once. Keys bind some of the pattern's variables, blank nodes to labels of this execution.
   */
  async *solutions(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings> {
    const names = variablesOf(pattern);
    const seen = new Set<string>();
    const holding = this.#held.open();
    try {
      for await (const row of this.#ask((member) => member.solutions(pattern, keys))) {
        const key = termsText(names.map((name) => row.get(name)));
        if (seen.has(key)) continue;
        holding.add(keyBytes(key));
        seen.add(key);
        yield row;
      }
    } finally {
      holding.release();
    }
  }

  /** Those of the nodes that are subject or object of a triple, each once. */
  async *nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term> {
    const seen = new Set<string>();
    for await (const node of this.#ask((member) => member.nodes(among))) {
      const key = termToText(node);
      if (!seen.has(key)) yield node;
      seen.add(key);
    }
  }

  /** How many triples match; undefined when one member cannot tell. */
  async estimate(pattern: TriplePattern): Promise<number | undefined> {
    const estimates = await Promise.all(this.#members.map((member) => member.estimate(pattern)));
    const known = estimates.flatMap((estimate) => estimate?.triples ?? []);
    return known.length < estimates.length ? undefined : known.reduce((sum, triples) => sum + triples, 0);
  }

  /** Asks all members; with `partial`, an execution outlives the failure of one, which is not asked again. */
  #ask<T>(ask: (member: Member) => AsyncIterable<T>): AsyncIterable<T> {
    const [members, { sources }] = [this.#members, this.#bounds];
    async function* asked(): AsyncIterable<AsyncIterable<T>> {
      for (const member of members) {
        const { id, url } = member.endpoint;
        if (sources.get(id ?? url)?.status !== "failed") yield ask(member);
      }
    }
    return interleave(asked(), MEMBERS_AT_ONCE);
  }
}

/**
 * One member of a merged graph within one execution. A blank node of a member has one label wherever it is met in the
 * execution, and no label of another member.
 */
export interface Member {
  readonly endpoint: PlannedEndpoint;
  /** Solutions of a pattern that are compatible with one of the keys; the same solution may come more than once. */
  solutions(pattern: TriplePattern, keys: KeyBlock | undefined): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** Undefined when it cannot be told without asking for the solutions. */
  estimate(pattern: TriplePattern): Promise<MatchEstimate | undefined>;
}

/** What the whole query asks of its patterns. */
export interface QueryNeeds {
  /**
   * Variables that are compared, joined or told apart: their blank nodes need one label in all answers. Those of the others
   * may have a new label in each answer.
   */
  identified(variable: string): boolean;
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

function openMember(endpoint: PlannedEndpoint, options: MemberOptions): Member {
  if (endpoint.interface === undefined) return createSparqlMember({ endpoint, ...options });
  const { bounds, openSource } = options;
  const report = sourceReport(bounds.sources, endpoint.id ?? endpoint.url);
  const { signal, deadlineMs, trace } = bounds;
  const source = openSource(endpoint, { signal, deadlineMs, report, owner: { endpoint: endpoint.id, trace } });
  return createMatchedMember({ ...options, endpoint, source, report });
}
