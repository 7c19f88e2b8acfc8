import compactText from "@comunica/utils-bindings-factory/lib/bindingsToString.js";
import type * as RDF from "@rdfjs/types";
import { termToText } from "../../results/terms.ts";

/**
 * Groups by all keys, bound or not (SPARQL 1.1 Query, section 18.5.1). Comunica strings the terms together without a sign
 * for an unbound one, so that the keys (x, unbound) and (unbound, x) are one group.
 */
export function tellKeysApart(): void {
  Object.assign(compactText, { bindingsToCompactString: keyText });
}

/** A text that no other terms of these variables have. */
export function keyText(bindings: RDF.Bindings, variables: readonly RDF.Variable[]): string {
  let text = "";
  for (const variable of variables) {
    const term = bindings.get(variable);
    const part = term ? termToText(term) : "";
    text += term ? `${part.length}:${part}` : "-";
  }
  return text;
}
