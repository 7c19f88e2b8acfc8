import { withCountsInClauses, type CountedClause } from "../sparql/counted-clauses.ts";
import { parseQuery } from "../sparql/parse-query.ts";
import { tokenAt } from "../sparql/tokens.ts";
import type { QueryConstruct } from "../sparql/used-constructs.ts";
import { withText } from "./build-plan.ts";
import type { PlanContext } from "./plan-request.ts";
import type { QueryPlan } from "./query-plan.ts";

const needed: readonly QueryConstruct[] = ["subquery", "aggregates", "aggregateTruth"];

/**
 * The same plan with the solutions of its SERVICE clauses counted by their endpoints, where the query does nothing but count
 * them and all endpoints can, as far as is known. It takes one row of an endpoint, or one of each group.
 */
export function countedAtEndpoints(plan: QueryPlan, { capabilities }: PlanContext): QueryPlan {
  if (plan.kind !== "federated" || plan.over || plan.clauses.length === 0 || !/\bCOUNT\b/iu.test(plan.query))
    return plan;
  const query = parseQuery(plan.query);
  const endpoints = new Map(plan.members.map(({ endpoint }) => [`<${endpoint.url}>`, endpoint]));
  const mayCount = ({ service, isGrouped }: CountedClause): boolean => {
    const endpoint = endpoints.get(tokenAt(query.tokens, service.name).text);
    if (endpoint === undefined || endpoint.interface !== undefined) return false;
    const lacks = endpoint.id === undefined ? undefined : capabilities?.view(endpoint.id)?.lacks;
    return !(isGrouped ? [...needed, "groupHaving"] : needed).some((name) => lacks?.has(name));
  };
  const text = withCountsInClauses(query, mayCount);
  return text === undefined ? plan : withText(plan, parseQuery(text));
}
