import { itemAt } from "../../values.ts";
import type { Query } from "../parse/query.ts";
import type { PropertyPath, Term, Triple } from "sparqljs";
import { iriText } from "../../rdf/term-text.ts";
import type { TokenRange } from "../parse/outline.ts";
import { isPath, type PatternTerm, patternTerm } from "./query-patterns.ts";

/** Subject, predicate or object of a triple pattern. */
interface TripleTerm {
  /** As it was written; blank nodes are variables of their own, `?fedwayBlank...`. */
  readonly text: string;
  /** Where it was written; absent for what brackets and collections stand for. */
  readonly range?: TokenRange;
  /** Undefined for a property path. */
  readonly term: PatternTerm | undefined;
}

/** One triple pattern of a query's text. */
export interface TripleText {
  readonly subject: TripleTerm;
  readonly predicate: TripleTerm;
  readonly object: TripleTerm;
}

/**
 * Triple patterns of a query, each written out in full in the user's own words: brackets and collections are written with
 * variables, and a sequence path becomes its steps, with variables between them (SPARQL 1.1 Query, sections 4.1.4, 4.2 and
 * 18.2.2.4).
 */
export function tripleTexts(query: Query, triples: readonly Triple[]): readonly TripleText[] {
  const found: TripleText[] = [];
  const add = (subject: TripleTerm, path: Triple["predicate"], object: TripleTerm): void => {
    if (isPath(path) && path.pathType === "^") {
      for (const item of path.items) add(object, item, subject);
    } else if (isPath(path) && path.pathType === "/") {
      let from = subject;
      for (const [index, step] of path.items.entries()) {
        const to = index === path.items.length - 1 ? object : variable(`Step${found.length}`);
        add(from, step, to);
        from = to;
      }
    } else found.push({ subject, predicate: written(query, path), object });
  };
  for (const { subject, predicate, object } of triples) add(written(query, subject), predicate, written(query, object));
  return found;
}

const variable = (name: string): TripleTerm => ({
  text: `?fedwayBlank${name}`,
  term: { kind: "variable", name: `fedwayBlank${name}` },
});

function written(query: Query, node: Term | PropertyPath): TripleTerm {
  const range = query.places.get(node);
  const place = range && { range };
  if ("termType" in node && node.termType === "BlankNode") {
    const label = variable(`_${Buffer.from(node.value).toString("hex")}`);
    // What brackets and collections stand for has no place of its own.
    return range && itemAt(query.tokens, range.from).kind === "blank" ? { ...label, range } : label;
  }
  const text = range ? query.textOf(range) : "value" in node ? iriText(node.value) : "";
  return { text, ...place, term: "termType" in node ? patternTerm(node) : undefined };
}
