import type * as RDF from "@rdfjs/types";
import { termToText } from "../../results/terms.ts";

/** A text that no other terms of these variables have, bound or not (SPARQL 1.1 Query, section 18.5.1). */
export function keyText(bindings: RDF.Bindings, variables: readonly RDF.Variable[]): string {
  let text = "";
  for (const variable of variables) {
    const term = bindings.get(variable);
    const part = term ? termToText(term) : "";
    text += term ? `${part.length}:${part}` : "-";
  }
  return text;
}
