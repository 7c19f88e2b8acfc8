import { MaxAggregator } from "@comunica/actor-bindings-aggregator-factory-max";
import { MinAggregator } from "@comunica/actor-bindings-aggregator-factory-min";
import type * as RDF from "@rdfjs/types";

/** What the two aggregators keep to themselves. */
interface Extreme {
  state: RDF.Term | undefined;
  readonly orderByEvaluator: { orderTypes(a: RDF.Term, b: RDF.Term): number };
}

/** MIN and MAX over any terms, in the order of ORDER BY (SPARQL 1.1 Query, sections 18.5.1.5 and 18.5.1.6); Comunica takes literals only. */
export function compareAllTerms(): void {
  MinAggregator.prototype.putTerm = keeping(1);
  MaxAggregator.prototype.putTerm = keeping(-1);
}

/** Takes a term when the one that is kept compares to it like this. */
function keeping(wanted: number): (term: RDF.Term) => void {
  return function putTerm(this: unknown, term) {
    const extreme = this as Extreme;
    if (extreme.state === undefined || extreme.orderByEvaluator.orderTypes(extreme.state, term) === wanted) {
      extreme.state = term;
    }
  };
}
