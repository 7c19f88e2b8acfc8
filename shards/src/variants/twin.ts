import { itemAt } from "../../../src/values.ts";
import { iriText, stringText } from "../../../src/rdf/term-text.ts";
import { xsd } from "../../../src/rdf/vocabularies.ts";
import { type TextEdit } from "../../../src/sparql/query.ts";
import { isObject } from "../guards.ts";
import { isOrdered, localName, type Renaming } from "./renaming.ts";
import { type DataFacts, isText, type PropertyFacts, type ReadQuery } from "./twin-facts.ts";
import type { Constant } from "./value-uses.ts";

interface TwinParts {
  readonly renaming: Renaming;
  readonly facts: DataFacts;
  readonly queries: readonly ReadQuery[];
  /** Literals and questions stay. */
  readonly opaque: boolean;
}

/**
 * Renames terms, queries and questions alike. Literals of properties stay whose values a query reads inside of (`STRLEN`, `SUM`,
 * texts in order), and constants that a question names in other words; a query that reads inside of IRIs is left out.
 */
export class Twin {
  /** Groups of values that stay, and why. */
  readonly kept = new Map<string, string>();
  readonly keptTexts = new Map<string, string>();
  readonly leftOut = new Map<string, string>();
  readonly #parts: TwinParts;
  readonly #groups = new Map<string, PropertyFacts>();

  constructor(parts: TwinParts) {
    this.#parts = parts;
    const { queries, opaque } = parts;
    const { uses, properties } = parts.facts;
    for (const [property, { hasTexts, hasThings, isYears }] of properties) {
      const group = uses.groupOf(property);
      const facts = this.#groups.get(group);
      this.#groups.set(group, {
        hasTexts: hasTexts || facts?.hasTexts === true,
        hasThings: hasThings || facts?.hasThings === true,
        isYears: isYears && facts?.isYears !== false,
      });
    }
    for (const id of uses.open) this.leftOut.set(id, "a variable stands for a property");
    this.#judgeReadings();
    if (!opaque) for (const query of queries) this.#keepUnnamed(query);
  }

  #judgeReadings(): void {
    const { facts, queries } = this.#parts;
    const { uses } = facts;
    const things = new Set(Array.from(uses.things, (slot) => uses.groupOf(slot)));
    for (const [group, readings] of Map.groupBy(uses.readings, ({ slot }) => uses.groupOf(slot))) {
      const { hasThings = false, hasTexts = false } = this.#groups.get(group) ?? {};
      const inside = readings.filter(({ level }) => level === "inside" || (level === "order" && hasTexts));
      const isThing = hasThings || things.has(group);
      // Names of the whole dataset are worth more than a few queries.
      const isRare = hasTexts && new Set(inside.map(({ query }) => query)).size <= queries.length * rareShare;
      for (const { query, by } of isThing ? readings : inside) {
        if (isThing || isRare) this.leftOut.set(query, `"${by}" reads inside of ${isThing ? "IRIs" : "texts"}`);
        else this.kept.set(group, `"${by}" in ${query}`);
      }
    }
  }

  /** A constant that a question names in other words ("French", "half an hour") stays, or the question would have no answer. */
  #keepUnnamed({ same, questions, constants }: ReadQuery): void {
    if (this.leftOut.has(itemAt(same, 0))) return;
    for (const { node, slot } of constants.filter(isLiteral)) {
      const value = String(node["value"]);
      const group = this.#parts.facts.uses.groupOf(slot);
      if (this.literal(value, datatypeOf(node), slot) === value) continue;
      for (const [id, question] of questions) {
        const found = [...question.matchAll(phrase([value]))].length;
        const why = `${id} names ${JSON.stringify(value)} in other words`;
        if (isOrdered(value) || !/\p{L}/u.test(value)) {
          // A number may stand for something else as well.
          if (found !== 1) this.kept.set(group, why);
        } else if (found === 0) this.keptTexts.set(value, why);
      }
    }
  }

  iri(iri: string): string {
    return this.#parts.facts.uses.schema.has(iri) ? iri : this.#parts.renaming.iri(iri);
  }

  /** @param slot the property, or what stands for it in a query */
  literal(value: string, datatype: string, slot: string): string {
    const { opaque, renaming } = this.#parts;
    const group = this.#parts.facts.uses.groupOf(slot);
    if (opaque || this.kept.has(group)) return value;
    const years = this.#groups.get(group)?.isYears === true ? "years" : "numbers";
    if (isText(datatype)) return this.keptTexts.has(value) ? value : renaming.value(value, years);
    const plain = numeric.test(datatype) ? plainNumber(value) : value;
    return isOrdered(plain) ? renaming.value(plain, years) : value;
  }

  notes() {
    const { facts, opaque } = this.#parts;
    const stay = opaque ? [] : [...facts.properties.keys()].toSorted();
    return {
      /** Queries that are not in the twin. */
      leftOut: Array.from(this.leftOut, ([id, why]) => ({ id, why })),
      /** Properties whose literals stay. */
      properties: stay.flatMap((iri) => {
        const why = this.kept.get(facts.uses.groupOf(iri));
        return why === undefined ? [] : [{ iri, why }];
      }),
      /** Texts that stay. */
      texts: Array.from(this.keptTexts, ([text, why]) => ({ text, why })),
    };
  }

  /** The entries of a query in a file of queries, one a question. */
  entriesOf({ same, parsed, questions, constants }: ReadQuery) {
    if (this.leftOut.has(itemAt(same, 0))) return [];
    const names = new Map<string, string>();
    const places: ReadonlyMap<unknown, TextEdit["range"]> = parsed.places;
    const edits = constants.flatMap(({ node, slot }): readonly TextEdit[] => {
      const [value, range] = [String(node["value"]), places.get(node)];
      const isIri = node["termType"] === "NamedNode";
      const renamed = isIri ? this.iri(value) : this.literal(value, datatypeOf(node), slot);
      if (renamed === value || range === undefined) return [];
      names.set(isIri ? spoken(value) : value, isIri ? spoken(renamed) : renamed);
      if (isIri) return [parsed.termEdit(range, iriText(renamed))];
      const isQuoted = itemAt(parsed.tokens, range.from).kind === "string";
      if (!isQuoted) return [{ range, replacement: renamed }];
      return [{ range: { from: range.from, to: range.from + 1 }, replacement: stringText(renamed) }];
    });
    const sparql = parsed.cut(edits);
    return same.map((id) => ({ id, question: this.#question(questions.get(id), names), sparql }));
  }

  #question(question: string | undefined, constants: ReadonlyMap<string, string>): string | undefined {
    if (question === undefined || this.#parts.opaque) return question;
    const names = new Map(Array.from(constants, ([from, to]) => [from.toLowerCase(), to]));
    const mentions = new Map<string, string>();
    for (const [text, properties] of this.#parts.facts.mentions) {
      const free = [...properties].find((property) => this.literal(text, xsd.string, property) !== text);
      if (free !== undefined && isName.test(text)) mentions.set(text, this.literal(text, xsd.string, free));
    }
    const all = [...names.keys(), ...mentions.keys()].filter((text) => text !== "");
    return question.replaceAll(phrase(all), (found, at: number) => {
      // The first word of a sentence has a capital for another reason.
      const mention = at > 0 || found.includes(" ") ? mentions.get(found) : undefined;
      return names.get(found.toLowerCase()) ?? mention ?? found;
    });
  }
}

/** Up to this share of queries is left out for the texts of a property. */
const rareShare = 0.05;
const isName = /^\p{Lu}.{2}/su;
const numeric = /XMLSchema#(?:[^#]*(?:[iI]nt(?:eger)?|[lL]ong|[sS]hort|[bB]yte)|decimal|double|float|gYear)$/u;
const isLiteral = ({ node }: Constant): boolean => node["termType"] === "Literal";
const datatypeOf = ({ datatype }: Constant["node"]): string => (isObject(datatype) ? String(datatype["value"]) : "");
const spoken = (iri: string): string => localName(iri).replaceAll(/[_+-]+/gu, " ");

/** Without sign, leading zeros and exponent. */
function plainNumber(text: string): string {
  return /[eE]/u.test(text) ? String(Number(text)) : text.replace(/^\+/u, "").replace(/^(-?)0+(?=\d)/u, "$1");
}

/** Any of some texts, the longest first, as whole words. */
function phrase(texts: readonly string[]): RegExp {
  const escaped = texts
    .toSorted((left, right) => right.length - left.length)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`));
  return new RegExp(
    String.raw`(?<![\p{L}\p{N}]|\d[.,])(?:${escaped.join("|") || "(?!)"})(?![\p{L}\p{N}]|[.,]\d)`,
    "giu",
  );
}
