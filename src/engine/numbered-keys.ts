import type * as RDF from "@rdfjs/types";
import type { ClauseVariable } from "../plan/federated-clause.ts";
import type { Bindings } from "../results/model.ts";
import { literalFromParts } from "../results/terms.ts";
import type { KeyBlock } from "./clause-query.ts";

const NUMBER = "fedway_key";
const XSD = "http://www.w3.org/2001/XMLSchema#";
const RDF_NS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/** How engines that store values and not spellings give back what is spelled like this: unchanged. */
const canonical: Readonly<Record<string, RegExp>> = {
  string: /^/u,
  integer: /^(?:0|-?[1-9]\d{0,17})$/u,
  decimal: /^-?(?:0|[1-9]\d{0,14})\.\d{0,14}[1-9]$/u,
  boolean: /^(?:true|false)$/u,
  date: /^\d{4}-\d\d-\d\d$/u,
  dateTime: /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\dZ?$/u,
};

/** Keys as they are sent, and how an answer's rows are read. */
export interface SentKeys {
  readonly keys: KeyBlock | undefined;
  /** The row as the join needs it; nothing when its values are equal to its key's, but are other terms. */
  own(row: Bindings): readonly Bindings[];
}

/**
 * Many engines store "01"^^xsd:integer, "1"^^xsd:int and "1"^^xsd:integer as one value: each of the three keys matches it,
 * and each match is spelled in the engine's own way. A join is on terms (SPARQL 1.1 Query, section 18.3), so each row must
 * say which key it matches: where a key could come back in another spelling, the keys are numbered.
 */
export function numberKeys(keys: KeyBlock | undefined, variables: readonly ClauseVariable[]): SentKeys {
  if (!keys || keys.rows.every((row) => row.every((term) => hasOneSpelling(term))))
    return { keys, own: (row) => [row] };
  const certain = new Set(variables.flatMap(({ name, certain: always }) => (always ? [name] : [])));
  const rows = keys.rows.map((row, index) => [...row, literalFromParts(String(index))]);
  return {
    keys: { variables: [...keys.variables, NUMBER], rows },
    own(row) {
      const key = keys.rows[Number(row.get(NUMBER)?.value)];
      const own = new Map(row);
      own.delete(NUMBER);
      for (const [index, name] of keys.variables.entries()) {
        const [term, wanted] = [row.get(name), key?.[index]];
        if (!term || !wanted || term.equals(wanted)) continue;
        // What the clause may leave unbound is the key itself, in the engine's spelling.
        if (certain.has(name) || hasOneSpelling(wanted)) return [];
        own.set(name, wanted);
      }
      return [own];
    },
  };
}

/** No engine gives the term back spelled otherwise. */
export function hasOneSpelling(term: RDF.Term): boolean {
  if (term.termType !== "Literal") return true;
  if (term.language !== "") return term.language === term.language.toLowerCase();
  const { value } = term.datatype;
  if (!value.startsWith(XSD)) return value !== `${RDF_NS}langString`;
  const name = value.slice(XSD.length);
  return Object.hasOwn(canonical, name) && canonical[name]?.test(term.value) === true;
}
