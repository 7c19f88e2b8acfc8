import { endpointOf, type Finding, type Inquiry } from "./inquiry.ts";
import { generalised, termOf } from "./mistaken-endpoint.ts";
import { renderParts } from "./query-parts.ts";

/** Members of a federation that are asked whether they know a term. */
const mostAsked = 8;

/**
 * The finding with the endpoints that the part to blame is about, where all members of a federation are asked together: those
 * that have its class or property, by their descriptions, else by asking them. The only one is the endpoint of the finding.
 * @throws BudgetSpent
 */
export async function namedMember(inquiry: Inquiry, finding: Finding): Promise<Finding> {
  const { part } = finding;
  const { members, terms, prober } = inquiry;
  if (part === undefined || members.length === 0 || endpointOf(inquiry, part) !== undefined) return finding;
  const fitting = finding.fitting ?? part;
  const term = termOf(fitting);
  if (term === undefined) return finding;
  const known = members.map((id) => ({ id, has: terms?.hasTerm(id, term) ?? "unknown" }));
  const having = known.filter(({ has }) => has === "yes").map(({ id }) => id);
  const unsure = known.filter(({ has }) => has === "unknown").slice(0, mostAsked);
  for (const { id } of unsure) {
    const group = renderParts([{ ...generalised(fitting), wrappers: [] }]);
    const [has] = await prober.anySolutions([group], { endpointId: id });
    if (has === true) having.push(id);
  }
  const [only] = having;
  return having.length === 1 ? { ...finding, endpoint: only } : { ...finding, endpoints: having.slice(0, 10) };
}
