import { setImmediate as nextTurn } from "node:timers/promises";
import { FedwayError } from "../../errors/fedway-error.ts";
import { type Grammar, type GrammarDialect, writeGrammar } from "./grammar.ts";
import { type GrammarSource, placesOf, termsOf, type Terms, titleOf } from "./places.ts";
import { grammarRules } from "./sparql-rules.ts";

/** A request for a grammar. */
export interface GrammarRequest {
  /** One endpoint, or the members of a federation. */
  readonly sources: readonly GrammarSource[];
  /** Write each pattern into a SERVICE group of its endpoint, named by its catalogue id. */
  readonly asFederation: boolean;
  /** Most bytes (UTF-8) of the grammar's text in this dialect. */
  readonly maxBytes: number;
  readonly dialect: GrammarDialect;
  /** Comments for its reader. */
  readonly notes?: readonly string[];
}

/** A grammar within its budget. */
export interface SparqlGrammar {
  readonly grammar: Grammar;
  readonly text: string;
  /** Classes and properties of classes (and of the whole datasets) that had no room, and how many there are. */
  readonly leftOut: number;
  readonly total: number;
}

/** Terms of the first guess, and how often a number of them is tried. */
const [firstGuess, mostAttempts] = [100, 16];
/** Parts of the bytes: what a guess aims at, and what is enough. */
const [aim, wellFilled] = [0.99, 0.97];

/** The smallest budget: it holds the rules that name no terms and at least one class. */
export const leastBytes = 8_000;

/**
 * The grammar of SPARQL queries over the classes and properties of the sources, with the largest of them when not all fit.
 * Each of its sentences is valid SPARQL, names only terms of the sources, joins only what their descriptions say is linked,
 * and projects only what its pattern binds.
 * @throws FedwayError `DESCRIPTION_UNKNOWN` when the descriptions name no class and no property
 */
export async function sparqlGrammar(request: GrammarRequest): Promise<SparqlGrammar> {
  const { maxBytes } = request;
  const terms = termsOf(request.sources);
  const total = terms.items.length;
  const made = (count: number): SparqlGrammar => withItems(request, terms, count);
  if (total === 0) {
    throw new FedwayError(
      "DESCRIPTION_UNKNOWN",
      "The description names no class and no property, so there is nothing to write queries over.",
      {
        next: "Have the endpoint described again: POST /api/endpoints/{id}/describe.",
      },
    );
  }
  // Beyond the rules that name no terms, text grows about as the number of terms does. One grammar is written a turn.
  let [best, fitting, tooMany] = [made(1), 1, total + 1];
  const base = Buffer.byteLength(best.text);
  let guess = Math.min(total, firstGuess);
  for (let attempt = 0; attempt < mostAttempts && tooMany - fitting > 1; attempt++) {
    await nextTurn();
    const next = made(guess);
    const size = Buffer.byteLength(next.text);
    if (size > maxBytes) tooMany = guess;
    else [best, fitting] = [next, guess];
    if (size <= maxBytes && size > wellFilled * maxBytes) break;
    const target = Math.floor((guess * (aim * maxBytes - base)) / Math.max(1, size - base));
    guess = Math.min(tooMany - 1, Math.max(fitting + 1, target));
  }
  return best;
}

function withItems(request: GrammarRequest, terms: Terms, count: number): SparqlGrammar {
  const { sources } = request;
  const total = terms.items.length;
  const items = terms.items.slice(0, count);
  const prefixes = prefixesOf(
    items.flatMap(({ class: iri, property }) => [iri ?? [], property?.property ?? []].flat()),
    terms,
  );
  const write = (iri: string): string => {
    const short = terms.table.short(iri);
    return short.prefixes.every((prefix) => prefixes.has(prefix)) ? short.text : `<${iri}>`;
  };
  const places = placesOf(sources, items, write);
  const prologue = [...prefixes].toSorted().map((prefix) => `${terms.table.declaration(prefix)}\n`);
  const comments = [
    `SPARQL over ${sources.map((source) => titleOf(source)).join(" | ")}`,
    "Every sentence is a valid query; its variables are bound, its classes, properties and links are in the data's description.",
    ...(count < total
      ? [
          `${total - count} of ${total} classes and properties of classes had no room; the largest are here. Ask with a larger maxBytes.`,
        ]
      : []),
    ...(terms.unusable > 0 ? [`${terms.unusable} terms cannot be written in a query.`] : []),
  ];
  const grammar = {
    comments: [...comments, ...(request.notes ?? [])],
    rules: grammarRules(places, { sources, asFederation: request.asFederation, prologue: prologue.join("") }),
  };
  return { grammar, text: writeGrammar(grammar, request.dialect), leftOut: total - count, total };
}

/** A model writes all declarations before each query, twenty tokens each. */
const mostPrefixes = 5;

/** The prefixes that most of these IRIs have; the others are written in full. */
function prefixesOf(iris: readonly string[], { table }: Terms): ReadonlySet<string> {
  const uses = Map.groupBy(
    iris.flatMap((iri) => table.short(iri).prefixes),
    (prefix) => prefix,
  );
  const often = [...uses].filter(([, all]) => all.length > 1 || uses.size <= mostPrefixes);
  return new Set(
    often
      .toSorted(([, one], [, other]) => other.length - one.length)
      .slice(0, mostPrefixes)
      .map(([prefix]) => prefix),
  );
}
