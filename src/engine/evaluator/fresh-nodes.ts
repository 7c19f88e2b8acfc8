import { createHash, randomUUID } from "node:crypto";
import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { blankNodeFromLabel } from "../../results/terms.ts";

// BNODE() makes nodes that no other solution and no endpoint has, and one node of one string within a solution (SPARQL 1.1
// Query, section 17.4.2.9).

const ours = `b${randomUUID().replaceAll("-", "")}`;
let labels = 0;
const freshLabel = (): string => `${ours}${(labels++).toString(36)}`;

/** Label prefixes of a solution's nodes. */
const scopes = new WeakMap<Bindings, string>();

/** BNODE(). */
export const freshNode = (): RDF.BlankNode => blankNodeFromLabel(freshLabel());

/** BNODE(name), evaluated for a solution. */
export function namedNodeOf(row: Bindings, name: string): RDF.BlankNode {
  const scope = scopes.get(row) ?? freshLabel();
  scopes.set(row, scope);
  return blankNodeFromLabel(`${scope}_${createHash("sha256").update(name).digest("hex").slice(0, 32)}`);
}

/** A solution, extended: its names stand for the nodes that they stood for before. */
export function extendedBy(row: Bindings, name: string, term: RDF.Term): Bindings {
  const extended = new Map(row).set(name, term);
  const scope = scopes.get(row);
  if (scope !== undefined) scopes.set(extended, scope);
  return extended;
}
