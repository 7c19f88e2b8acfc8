import { LRUCache } from "lru-cache";
import { FedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlRequest } from "../outbound/sparql-client.ts";
import type { Bindings } from "../results/model.ts";
import { sizedByKey } from "../cache-size.ts";

const FEWEST_ROWS = 1_000;
const COUNT = "fedway_rows";

/** A query whose answer may have been cut, and how many rows came. */
export interface SuspectAnswer {
  readonly endpoint: EndpointTarget;
  /** SELECT without LIMIT that gives all of the rows. */
  readonly query: string;
  /** Declarations that `query` begins with. */
  readonly prologue: string;
  /** Rows that were asked for at most. */
  readonly limit?: Pick<SparqlRequest, "limit">["limit"];
  readonly rows: number;
}

/** Row counts at which endpoints cut answers without a sign, as known to one process. */
export class RowCaps {
  readonly #caps = new LRUCache<string, number>(sizedByKey(8));
  readonly #onFound: (endpoint: EndpointTarget, rows: number) => void;

  /** @param onFound called for each cap that is found */
  constructor(onFound: (endpoint: EndpointTarget, rows: number) => void = () => {}) {
    this.#onFound = onFound;
  }

  /**
   * True if an answer that looks whole was cut. A round number of rows that no LIMIT explains is checked: the endpoint
   * is asked to count them, or for one row behind them, which does not depend on an order. One that can do neither has not
   * shown that nothing is missing.
   * @param ask sends one more query to the endpoint; gives undefined when it fails
   */
  async isCut(
    answer: SuspectAnswer,
    ask: (query: string) => Promise<readonly Bindings[] | undefined>,
  ): Promise<boolean> {
    const { endpoint, rows, limit } = answer;
    const { url } = endpoint;
    if (rows < FEWEST_ROWS || rows === limit) return false;
    const cap = this.#caps.get(url);
    // It has been raised since.
    if (cap !== undefined && rows > cap) this.#caps.delete(url);
    else if (rows === cap) return true;
    if (!isRound(rows)) return false;
    // Also where larger answers came whole before: a cap may be new.
    const more = await hasMore(answer, ask);
    if (more === true) {
      this.#caps.set(url, rows);
      this.#onFound(endpoint, rows);
    }
    return more !== false;
  }
}

/** As people set limits: thousands, and powers of two. */
const isRound = (rows: number): boolean => rows % 1_000 === 0 || (rows & (rows - 1)) === 0;

/** Undefined when the endpoint does not say. */
async function hasMore(
  { query, prologue, rows }: SuspectAnswer,
  ask: (query: string) => Promise<readonly Bindings[] | undefined>,
): Promise<boolean | undefined> {
  const select = query.slice(prologue.length);
  const counted = await ask(`${prologue}SELECT (COUNT(*) AS ?${COUNT}) WHERE { ${select} }`);
  const count = counted?.[0]?.get(COUNT)?.value ?? "";
  if (/^\d{1,15}$/.test(count)) return Number(count) > rows;
  const behind = await ask(`${query} OFFSET ${rows} LIMIT 1`);
  return behind && behind.length > 0;
}

/** The error of a cut answer where a part is not acceptable. */
export const cutWithoutSign = (endpoint: EndpointTarget, rows: number): FedwayError =>
  new FedwayError("ENDPOINT_PARTIAL", `The endpoint cut its answer at ${rows} rows and did not say so.`, {
    fault: "partial",
    where: { endpoint: endpoint.id ?? endpoint.url },
    next: "Ask again with partial=true to take what there is, or name more terms, so that fewer rows match.",
  });
