import { haveService, type ServiceClause } from "../sparql/structure.ts";
import type { PlannedEndpoint } from "./query-plan.ts";

/** The endpoint of a clause whose variable names it, as plans write it until the values are known. */
export const isOpenTarget = ({ url }: PlannedEndpoint): boolean => url.startsWith("?");

/** Its variable has a value in each solution that the clause is joined with, so that it can be asked with these. */
export function isFollowed({ target, parent, inGraph, place, element }: ServiceClause): boolean {
  const isPlain = parent === undefined && inGraph === "none" && !place.includes("exists");
  return target.kind === "variable" && target.isBound && isPlain && !haveService([element.group], () => true);
}
