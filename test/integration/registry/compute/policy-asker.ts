import type { AskRequest, Asker, WholeAnswer } from "../../../../src/outbound/whole-answer.ts";
import type * as RDF from "@rdfjs/types";
import oxigraph from "oxigraph";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { type DistinctFault, withDistinctFault } from "../../../support/distinct-faults.ts";

/** How an endpoint over Oxigraph misbehaves. Work is the number of solutions that a query groups or lists. */
export interface Policy {
  /** Answers are cut after so many rows: silently, or with a mark. */
  readonly rowCap?: number;
  readonly capMarked?: boolean;
  readonly noCount?: boolean;
  readonly noValues?: boolean;
  readonly distinct?: DistinctFault;
  /** Work above which a query is not done as it should be. */
  readonly workLimit?: number;
  /**
   * What happens then: an error; an answer over the first solutions; an answer over some of the triples; counts that are
   * too small. "marked" is the first with a mark.
   */
  readonly beyond?: "timeout" | "failure" | "first-solutions" | "marked" | "some-triples" | "scaled";
  /** Every so many-th request is put off. */
  readonly busyEvery?: number;
  /** Requests after which it cannot be reached; the next run can. */
  readonly diesAfter?: number;
  /** What it serves under its own URL; else there is nothing. */
  readonly document?: readonly RDF.Quad[];
}

/** An asker that evaluates over a store in this process. */
export interface PolicyAsker extends Asker {
  readonly queries: readonly string[];
  /** Makes a dead one answer again. */
  revive(): void;
}

/** The only endpoint. */
export const endpointUrl = "http://endpoint.example/sparql";

const fewer = 0.6;

/** Creates the asker; `some` is the data that is left of "some-triples". */
export function createPolicyAsker(nTriples: readonly string[], policy: Policy = {}): PolicyAsker {
  const engine: Engine = { ...dataOf(nTriples), policy };
  const queries: string[] = [];
  let alive = policy.diesAfter ?? Number.POSITIVE_INFINITY;
  return {
    queries,
    revive: () => {
      alive = Number.POSITIVE_INFINITY;
    },
    async fetchDocument({ url }) {
      queries.push(url);
      await Promise.resolve();
      const { document: quads } = policy;
      if (quads === undefined || url !== endpointUrl)
        throw new FedwayError("ENDPOINT_REFUSED", "nothing", { upstreamStatus: 404 });
      return { url, httpStatus: 200, mediaType: "text/turtle", quads, bytes: 40 * quads.length, durationMs: 1 };
    },
    async ask(asking) {
      queries.push(asking.query);
      await Promise.resolve();
      if (--alive < 0) throw new FedwayError("ENDPOINT_UNREACHABLE", "gone", { fault: "connect" });
      if (policy.busyEvery !== undefined && queries.length % policy.busyEvery === 0)
        throw new FedwayError("ENDPOINT_RATE_LIMITED", "busy", { retryAfterMs: 5, upstreamStatus: 429 });
      const { accept: mediaType } = asking;
      return { ...evaluate(engine, asking), ...(mediaType && { mediaType }) };
    },
  };
}

/** What is stored; an answer to a query is looked for once, as nothing changes it. */
type Data = (query: string) => boolean | readonly Map<string, RDF.Term>[];

function load(nTriples: readonly string[]): Data {
  const store = new oxigraph.Store();
  store.load(nTriples.join("\n"), { format: "nq" });
  const known = new Map<string, ReturnType<Data>>();
  return (query) => {
    const answer = known.get(query) ?? (store.query(query, {}) as ReturnType<Data>);
    known.set(query, answer);
    return answer;
  };
}

interface Loaded {
  readonly store: Data;
  readonly some: Data;
}

interface Engine extends Loaded {
  readonly policy: Policy;
}

const loaded = new WeakMap<readonly string[], Loaded>();

/** Askers over the same data share it. */
function dataOf(nTriples: readonly string[]): Loaded {
  const known = loaded.get(nTriples) ?? {
    store: load(nTriples),
    some: load(nTriples.slice(0, Math.floor(nTriples.length * fewer))),
  };
  loaded.set(nTriples, known);
  return known;
}

const aggregate = /^SELECT (.*?) WHERE (\{.*\})( GROUP BY [^{}]*)?( LIMIT \d+)?$/u;

function evaluate(engine: Engine, { query }: AskRequest): WholeAnswer {
  const { store, some, policy } = engine;
  refuse(policy, query);
  const beyond = isTooMuch(engine, query) ? policy.beyond : undefined;
  if (beyond === "timeout") throw new FedwayError("ENDPOINT_TIMEOUT", "slow", { fault: "timeout" });
  if (beyond === "failure") throw new FedwayError("ENDPOINT_FAILED", "slow", { upstreamStatus: 500 });
  const understood = withDistinctFault(query, policy.distinct) ?? "";
  const asked = beyond === "first-solutions" || beyond === "marked" ? cut(understood, policy) : understood;
  const answer = (beyond === "some-triples" ? some : store)(asked);
  if (typeof answer === "boolean") return reply([], { boolean: answer });
  const all = answer.map((row) => (beyond === "scaled" ? scaled(row) : row));
  const rows = all.slice(0, policy.rowCap);
  const marked = beyond === "marked" || (policy.capMarked === true && rows.length < all.length);
  return reply(rows, marked ? { partial: { how: "truncated", detail: "on purpose" } as const } : {});
}

function refuse(policy: Policy, query: string): void {
  if (withDistinctFault(query, policy.distinct) === undefined)
    throw new FedwayError("ENDPOINT_REJECTED_QUERY", "refused", { upstreamStatus: 400 });
  if ((policy.noCount && query.includes("COUNT(")) || (policy.noValues && query.includes("VALUES ")))
    throw new FedwayError("ENDPOINT_REJECTED_QUERY", "refused", { upstreamStatus: 400 });
}

const isTooMuch = ({ store, policy }: Engine, query: string): boolean =>
  policy.workLimit !== undefined && workOf(store, query) > policy.workLimit;

/** Solutions of the pattern that is grouped or listed; LIMIT stops early. */
function workOf(store: Data, query: string): number {
  const [, , body, , limit] = aggregate.exec(query) ?? [];
  if (body === undefined) return 0;
  const rows = store(`SELECT (COUNT(*) AS ?work) WHERE ${body}`);
  const work = typeof rows === "boolean" ? 0 : Number(rows[0]?.get("work")?.value ?? 0);
  return limit === undefined ? work : Math.min(work, Number(limit.slice(7)));
}

function cut(query: string, { workLimit = 0 }: Policy): string {
  return query.replace(aggregate, `SELECT $1 WHERE { { SELECT * WHERE $2 LIMIT ${workLimit} } }$3$4`);
}

function scaled(row: Map<string, RDF.Term>): Map<string, RDF.Term> {
  return new Map(
    [...row].map(([name, term]) =>
      term.termType === "Literal" && /^\d+$/u.test(term.value)
        ? [name, oxigraph.literal(String(Math.ceil(Number(term.value) * fewer)), term.datatype as oxigraph.NamedNode)]
        : [name, term],
    ),
  );
}

function reply(rows: WholeAnswer["rows"], extra: Partial<WholeAnswer>): WholeAnswer {
  const base = {
    variables: [],
    quads: [],
    httpStatus: 200,
    mediaType: "application/sparql-results+json",
    durationMs: 1,
    requests: 1,
  };
  return { ...base, rows, bytes: 40 * rows.length, ...extra };
}
