import oxigraph from "oxigraph";
import { askMember, rowsOfStore } from "./peer.ts";

type Term = { toString(): string };
type Rows = readonly ReadonlyMap<string, Term>[];

/** A plan by hand: CONSTRUCT queries, a round after the other; `known` asks what has been told so far. */
export interface HandPlan {
  readonly text: string;
  readonly rounds: readonly ((known: (query: string) => Rows) => string)[];
  readonly last?: string | undefined;
}

/** Everything that the members have, so that one can say where things are before anyone is asked. */
export type Knowledge = ReturnType<typeof createKnowledge>;

/** A store of each member's own, and one of all together. @param data N-Triples by member */
export function createKnowledge(data: Readonly<Record<string, string>>) {
  const all = new oxigraph.Store();
  const apart = new oxigraph.Store();
  for (const [name, text] of Object.entries(data)) {
    all.load(text, { format: "nt" });
    apart.load(text, { format: "nt", to_graph_name: oxigraph.namedNode(`urn:member:${name}`) });
  }
  const relevant = new Map<string, readonly string[]>();
  return {
    /** Canonical rows of the one right answer, sorted. */
    answer: (query: string): readonly string[] => rowsOfStore(all, query),
    /** The members that have something to say to a query; remembered. */
    membersFor(query: string): readonly string[] {
      const known = relevant.get(query);
      if (known) return known;
      const found = Object.keys(data).filter((name) => {
        const answer = apart.query(query, { default_graph: oxigraph.namedNode(`urn:member:${name}`) });
        return Array.isArray(answer) ? answer.length > 0 : answer;
      });
      relevant.set(query, found);
      return found;
    },
  };
}

/** Answers a query with the fewest requests. @returns canonical rows, sorted */
export async function answerByHand(
  plan: HandPlan,
  urls: Readonly<Record<string, string>>,
  knowledge: Knowledge,
): Promise<readonly string[]> {
  const told = new oxigraph.Store();
  const known = (query: string): Rows => told.query(query) as Rows;
  for (const round of plan.rounds) {
    const query = round(known);
    const answers = await Promise.all(
      knowledge.membersFor(query).map((name) => askMember(urls[name] ?? "", query, "application/n-triples")),
    );
    for (const answer of answers) told.load(answer, { format: "nt" });
  }
  return rowsOfStore(told, plan.last ?? plan.text);
}
