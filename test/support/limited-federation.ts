import { createTestedEngine } from "./tested-engine.ts";
import type { ExecutionBounds } from "../../src/engine/execution-bounds.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import type { QueryPlan } from "../../src/plan/query-plan.ts";
import type { QueryResult } from "../../src/results/model.ts";
import type { QueryConstruct } from "../../src/sparql/patterns.ts";
import type { SparqlClient } from "../../src/outbound/sparql-request.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { toBounds } from "./engine-answer.ts";
import { createStoreClient, type StoreClient } from "./store-client.ts";

const aggregate = /\b(?:COUNT|SUM|AVG|MIN|MAX|SAMPLE|GROUP_CONCAT)\s*\(|\bGROUP\s+BY\b|\bHAVING\b/iu;

/** Texts that an endpoint without a construct refuses. Strings and IRIs of the data must not look like them. */
const constructTexts: Readonly<Record<QueryConstruct, RegExp>> = {
  values: /\bVALUES\b/iu,
  aggregates: aggregate,
  aggregateTruth: aggregate,
  groupHaving: /\bGROUP\s+BY\b|\bHAVING\b/iu,
  minus: /\bMINUS\b/iu,
  subquery: /\bSELECT\b[^]*\bSELECT\b/iu,
  optional: /\bOPTIONAL\b/iu,
  valuesUndef: /\bUNDEF\b/iu,
  notExists: /\bEXISTS\b/iu,
  // Only at a term, not between variables.
  zeroLengthPath: /[>)][*?]\s+[<"]|[>"\d]\s+\(?<[^>\s]*>\)?[*?](?!\w)/u,
  blankNodes: /\bBNODE\s*\(/iu,
  construct: /\bCONSTRUCT\b/iu,
};

/** Constructs whose text the query has. */
export const seenConstructs = (query: string, among: Iterable<QueryConstruct>): readonly QueryConstruct[] =>
  [...among].filter((name) => constructTexts[name].test(query));

/** What the endpoints of a federation lack, and the row cap of those that cut answers without a word. */
export interface LimitedMember {
  readonly data: string;
  readonly lacks?: readonly QueryConstruct[];
  readonly silentRowCap?: number;
}

/** Endpoints `a`, `b`, ... in this process, each of which refuses the constructs that it is known to lack. */
export interface LimitedFederation {
  /** By name, in order of the members. */
  readonly urls: readonly string[];
  readonly client: StoreClient;
  setMembers(members: readonly LimitedMember[]): void;
  plan(query: string): QueryPlan;
  result(plan: QueryPlan, bounds?: ExecutionBounds): Promise<QueryResult>;
  /** Texts that the n-th endpoint received since the members were set. */
  received(index: number): readonly string[];
}

const names = ["a", "b", "c", "d"] as const;

/** Creates the federation; one engine serves all its members. */
export function createLimitedFederation(
  members: readonly LimitedMember[] = [],
  maxSolutions = 200_000,
): LimitedFederation {
  const urls = names.map((name) => `http://${name}.example/sparql`);
  let current = members;
  let store = createStoreClient({});
  let version = 0;
  const catalog = createCatalog(
    names.map((name) => catalogEntry(name)),
    [],
    { publicUrl: "http://fedway.example" },
  );
  const capabilities = {
    get version() {
      return version;
    },
    view(id: string) {
      const { lacks = [], silentRowCap } = current[names.indexOf(id as "a")] ?? {};
      return { lacks: new Set<string>(lacks), ...(silentRowCap !== undefined && { silentRowCap }) };
    },
  };
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", capabilities });
  const client: SparqlClient = {
    async query(request) {
      const { lacks = [] } = current[urls.indexOf(request.endpoint.url)] ?? {};
      const [refused] = seenConstructs(request.query, lacks);
      const answer = store.query(request);
      if (refused === undefined) return answer;
      await answer.catch(() => {});
      throw new FedwayError("ENDPOINT_REJECTED_QUERY", `${refused} is not known here.`, { fault: "http-4xx" });
    },
  };
  const engine = createTestedEngine({ client, maxSolutions, now: () => performance.now() });
  const setMembers = (next: readonly LimitedMember[]): void => {
    current = next;
    version++;
    store = createStoreClient(Object.fromEntries(next.map(({ data }, index) => [urls[index] ?? "", data])));
  };
  setMembers(members);
  return {
    urls,
    get client() {
      return store;
    },
    setMembers,
    plan: (text) => planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] }).plan,
    async result(plan, bounds = toBounds()) {
      if (plan.kind !== "federated") throw new Error(`a ${plan.kind} plan`);
      return engine.execute(plan, bounds);
    },
    received: (index) =>
      store.requests.filter(({ endpoint }) => endpoint.url === urls[index]).map(({ query }) => query),
  };
}
