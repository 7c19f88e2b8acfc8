import type * as RDF from "@rdfjs/types";
import type { PlannedEndpoint } from "../../plan/query-plan.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";
import type { KeyBlock } from "../clause-query.ts";
import { type HeldBytes, keyBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import type { Member } from "./member.ts";
import { type TriplePattern, variablesOf } from "./triple-pattern.ts";

/** The RDF merge of the members' default graphs (RDF 1.1 Semantics, section 4.1) within one execution. */
export interface MergedGraph {
  /**
   * The set of solutions of a pattern, compatible with one of the keys when given: a triple that several members have
   * counts once. Keys bind some of the pattern's variables, blank nodes to labels of this execution.
   */
  solutions(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings>;
  /** Those of the nodes that are subject or object of a triple, each once. */
  nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term>;
  /** How many triples match; undefined when one member cannot tell. */
  estimate(pattern: TriplePattern): Promise<number | undefined>;
}

// All members of usual federations are asked at once; of larger ones as many.
const MEMBERS_AT_ONCE = 24;

/** What members are merged with. */
export interface MergeOptions {
  /** Tells of a member that has failed and is not asked again. */
  readonly isOut: (endpoint: PlannedEndpoint) => boolean;
  /** Of the evaluation. */
  readonly held: HeldBytes;
}

/** Merges members. */
export function createMergedGraph(members: readonly Member[], { isOut, held }: MergeOptions): MergedGraph {
  async function* asked<T>(ask: (member: Member) => AsyncIterable<T>): AsyncIterable<AsyncIterable<T>> {
    for (const member of members) if (!isOut(member.endpoint)) yield ask(member);
  }

  async function* solutions(pattern: TriplePattern, keys?: KeyBlock): AsyncIterable<Bindings> {
    const names = variablesOf(pattern);
    const seen = new Set<string>();
    const holding = held.open();
    const all = interleave(
      asked((member) => member.solutions(pattern, keys)),
      MEMBERS_AT_ONCE,
    );
    try {
      for await (const row of all) {
        const key = names.map((name) => termText(row.get(name))).join(" ");
        if (seen.has(key)) continue;
        holding.add(keyBytes(key));
        seen.add(key);
        yield row;
      }
    } finally {
      holding.release();
    }
  }

  async function* nodes(among: readonly RDF.Term[]): AsyncIterable<RDF.Term> {
    const seen = new Set<string>();
    const all = interleave(
      asked((member) => member.nodes(among)),
      MEMBERS_AT_ONCE,
    );
    for await (const node of all) {
      const key = termToText(node);
      if (!seen.has(key)) yield node;
      seen.add(key);
    }
  }

  return {
    solutions,
    nodes,
    async estimate(pattern) {
      const estimates = await Promise.all(members.map((member) => member.estimate(pattern)));
      const known = estimates.flatMap((estimate) => estimate?.triples ?? []);
      return known.length < members.length ? undefined : known.reduce((sum, triples) => sum + triples, 0);
    },
  };
}

const termText = (term: RDF.Term | undefined): string => (term ? termToText(term) : "");
