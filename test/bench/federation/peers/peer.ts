import { readFileSync } from "node:fs";
import type { Store } from "oxigraph";
import { childrenOf } from "../../../support/child-processes.ts";
import { canonicalLiteral, canonicalRow } from "../../../support/canonical-answer.ts";

/** Who answers federated queries, to be compared with others. */
export interface Peer {
  readonly name: string;
  /** Canonical rows, sorted. @throws Error when there is no whole answer; a timed-out signal ends it */
  readonly ask: (query: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** The same for a query that says itself with SERVICE where things are, where that is asked elsewhere. */
  readonly askAnywhere?: Peer["ask"];
  /** Most resident memory so far, with its children's, in bytes; undefined where it has no process of its own. */
  peakBytes?(): number;
  /** Ends what it still does for a query that has timed out. */
  giveUp(): Promise<void>;
  stop(): Promise<void>;
}

interface JsonTerm {
  readonly type: "uri" | "bnode" | "literal" | "typed-literal";
  readonly value: string;
  readonly datatype?: string;
  readonly "xml:lang"?: string;
}

interface JsonAnswer {
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] };
}

const canonicalJsonTerm = (term: JsonTerm): string => {
  if (term.type === "uri") return `<${term.value}>`;
  if (term.type === "bnode") return "_:";
  return canonicalLiteral({ value: term.value, language: term["xml:lang"] ?? "", datatype: term.datatype ?? "" });
};

/** Sends a query by POST form and reads the JSON answer as canonical rows. @throws Error with the status and what it says */
export async function askOverHttp(url: string, query: string, signal: AbortSignal): Promise<readonly string[]> {
  const response = await fetch(url, {
    method: "POST",
    headers: { accept: "application/sparql-results+json" },
    body: new URLSearchParams({ query }),
    signal,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`);
  return canonicalRows(text);
}

/** Asks a member itself, as the plan by hand does. @throws Error with the status and what it says */
export async function askMember(url: string, query: string, accept: string): Promise<string> {
  const ask = (): Promise<Response> =>
    fetch(url, { method: "POST", headers: { accept }, body: new URLSearchParams({ query }) });
  // Members close connections that were idle for five seconds, which this process may see only when it uses them.
  const response = await ask().catch(ask);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`);
  return text;
}

/** What a store of this process answers: canonical rows, sorted; of a boolean, one. @throws Error when it refuses the query */
export function rowsOfStore(store: Store, query: string): readonly string[] {
  // Terms are objects of the WebAssembly side, each look at one a call; a text comes over in one piece.
  const text = store.query(query, { results_format: "json" });
  return canonicalRows(typeof text === "string" ? text : "");
}

function canonicalRows(text: string): readonly string[] {
  const { boolean, results } = JSON.parse(text) as JsonAnswer;
  if (boolean !== undefined) return [String(boolean)];
  const rows = results?.bindings ?? [];
  return rows
    .map((row) => canonicalRow(Object.entries(row).map(([name, term]) => [name, canonicalJsonTerm(term)])))
    .toSorted();
}

/** Most resident memory of a process and its children so far, in bytes: the sum of each one's own peak. */
export function peakBytesOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return childrenOf(pid).reduce((sum, child) => sum + peakBytesOf(child), Number(kilobytes ?? 0) * 1024);
  } catch {
    return 0;
  }
}
