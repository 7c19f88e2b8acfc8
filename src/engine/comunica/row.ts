import type * as RDF from "@rdfjs/types";
import { DataFactory } from "rdf-data-factory";
import type { Bindings } from "../../results/model.ts";

const factory = new DataFactory();

type Name = RDF.Variable | string;

const nameOf = (key: Name): string => (typeof key === "string" ? key : key.value);

/**
 * A solution as Comunica has it: a view of the map that was parsed from an answer. Nothing is copied before something
 * changes; Comunica's own bindings are trees of immutable maps.
 */
export class Row implements RDF.Bindings {
  /** Variable names to terms. */
  readonly terms: Bindings;

  constructor(terms: Bindings) {
    this.terms = terms;
  }

  get type(): "bindings" {
    return "bindings";
  }

  get size(): number {
    return this.terms.size;
  }

  has(key: Name): boolean {
    return this.terms.has(nameOf(key));
  }

  get(key: Name): RDF.Term | undefined {
    return this.terms.get(nameOf(key));
  }

  set(key: Name, value: RDF.Term): Row {
    return new Row(new Map(this.terms).set(nameOf(key), value));
  }

  delete(key: Name): Row {
    const terms = new Map(this.terms);
    terms.delete(nameOf(key));
    return new Row(terms);
  }

  *keys(): Generator<RDF.Variable> {
    for (const name of this.terms.keys()) yield factory.variable(name);
  }

  values(): Iterable<RDF.Term> {
    return this.terms.values();
  }

  forEach(callback: (value: RDF.Term, key: RDF.Variable) => unknown): void {
    for (const [name, term] of this.terms) callback(term, factory.variable(name));
  }

  *[Symbol.iterator](): Generator<[RDF.Variable, RDF.Term]> {
    for (const [name, term] of this.terms) yield [factory.variable(name), term];
  }

  equals(other: RDF.Bindings | null | undefined): boolean {
    if (other?.size !== this.size) return false;
    for (const [name, term] of this.terms) if (!term.equals(other.get(name))) return false;
    return true;
  }

  filter(callback: (value: RDF.Term, key: RDF.Variable) => boolean): Row {
    return new Row(new Map([...this.terms].filter(([name, term]) => callback(term, factory.variable(name)))));
  }

  map(callback: (value: RDF.Term, key: RDF.Variable) => RDF.Term): Row {
    return new Row(new Map([...this.terms].map(([name, term]) => [name, callback(term, factory.variable(name))])));
  }

  merge(other: RDF.Bindings): Row | undefined {
    const merged = new Map(this.terms);
    for (const [name, term] of termsOf(other)) {
      const own = merged.get(name);
      if (own === undefined) merged.set(name, term);
      else if (own !== term && !own.equals(term)) return undefined;
    }
    return new Row(merged);
  }

  mergeWith(merger: (own: RDF.Term, other: RDF.Term, key: RDF.Variable) => RDF.Term, other: RDF.Bindings): Row {
    const merged = new Map(this.terms);
    for (const [name, term] of termsOf(other)) {
      const own = merged.get(name);
      merged.set(name, own && !own.equals(term) ? merger(own, term, factory.variable(name)) : term);
    }
    return new Row(merged);
  }
}

/** The terms of a solution by name. */
export const termsOf = (row: RDF.Bindings): Bindings =>
  row instanceof Row ? row.terms : new Map([...row].map(([variable, term]) => [variable.value, term]));
