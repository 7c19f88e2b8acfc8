import { xsd } from "../../../src/rdf/vocabularies.ts";
import { iriText, stringText } from "../../../src/rdf/term-text.ts";
import { type JsonTerm, valueOf, type WholeStore } from "../package/whole-store.ts";
import type { GoldAnswer } from "../package/gold-answer.ts";
import type { DataFacts } from "./data-facts.ts";
import type { Flag } from "./audited.ts";
import type { QueryFacts, UsedLiteral } from "./query-facts.ts";
import { wordsOf } from "./question-text.ts";

const isNumeric = (text: string): boolean => /^[+-]?\d+(?:\.\d+)?$/u.test(text.trim());
const isText = (term: JsonTerm): boolean => term["datatype"] === undefined || term["datatype"] === xsd.string;
const numbers = new Set(
  ["integer", "decimal", "double", "float", "int", "long", "short", "byte"].map((name) => xsd.namespace + name),
);
const isNumber = (term: JsonTerm): boolean => numbers.has(String(term["datatype"]));
const orders = new Set(["<", ">", "<=", ">="]);

const asText = (evidence: string, place: string): Flag => ({ name: "number-as-text", evidence, place });

/** Numbers kept as texts that the query compares or orders, and texts compared with numbers. */
export function numberFlags(
  { literals, orders: keys, columns, properties }: QueryFacts,
  data: DataFacts,
): readonly Flag[] {
  const compared = literals
    .filter(({ value, operator = "!=" }) => operator !== "!=" && isNumeric(value))
    .flatMap((literal) => mixedFlags(literal, data));
  const ordered = [...keys, ...columns.filter(({ aggregate = "" }) => aggregate.startsWith("m"))]
    .filter(({ aggregate }) => aggregate !== "count")
    .flatMap(({ variables }) => variables)
    .flatMap((name) => Array.from(properties.get(name) ?? [], (property) => ({ name, property })));
  return [
    ...compared,
    ...ordered.flatMap(({ name, property }) => orderFlags(property, [], { data, place: `?${name}` })),
  ];
}

/** A number compared with texts, or a text with numbers. */
function mixedFlags(
  { value, datatype, operator = "", properties, aggregated }: UsedLiteral,
  data: DataFacts,
): readonly Flag[] {
  const isNumeral = numbers.has(datatype);
  if (aggregated === true && !isNumeral)
    return [asText(`An aggregate is never ${operator} the text "${value}".`, value)];
  return properties.flatMap((property): readonly Flag[] => {
    const terms = data.values.get(property) ?? [];
    const name = wordsOf(property).join(" ");
    if (terms.length > 0 && terms.every(isNumeral ? isText : isNumber)) {
      const [kept, other] = isNumeral ? ["texts", "number"] : ["numbers", "text"];
      return [asText(`The values of ${name} are ${kept}, which are never ${operator} the ${other} ${value}.`, value)];
    }
    return isNumeral || !orders.has(operator) ? [] : orderFlags(property, [value], { data, place: value });
  });
}

/** Texts of numbers whose order is not that of the numbers. */
function orderFlags(
  property: string,
  more: readonly string[],
  { data, place }: { readonly data: DataFacts; readonly place: string },
): readonly Flag[] {
  const all = data.values.get(property) ?? [];
  const texts = all.filter(isText).map(valueOf).filter(isNumeric);
  if (texts.length < Math.max(2, all.length / 2)) return [];
  const sorted = [...texts, ...more].toSorted();
  const at = sorted.findIndex((text, index) => Number(text) < Number(sorted[index - 1]));
  const evidence = `The values of ${wordsOf(property).join(" ")} are texts: "${sorted[at - 1]}" comes before "${sorted[at]}".`;
  return at > 0 ? [asText(evidence, place)] : [];
}

/** Texts that the property has not, IRIs that the data lack. */
export async function constantFlags(facts: QueryFacts, data: DataFacts, store: WholeStore): Promise<readonly Flag[]> {
  const flags: Flag[] = [];
  const of = (evidence: string, place: string): number => flags.push({ name: "constant-unmatched", evidence, place });
  for (const iri of [...facts.things, ...facts.terms])
    if (!(await isKnown(store, iri))) of(`The data have no ${iriText(iri)}.`, iriText(iri));
  for (const { value, operator, properties } of facts.literals) {
    const isEqual = operator === undefined || ["=", "!=", "in", "notin"].includes(operator);
    for (const property of properties) {
      const values = (data.values.get(property) ?? []).map(valueOf);
      if (!isEqual || values.length === 0 || isNumeric(value) || values.includes(value)) continue;
      const near = values.find((each) => each.trim().toLowerCase() === value.trim().toLowerCase());
      of(
        `No ${wordsOf(property).join(" ")} is ${stringText(value)}${near === undefined ? "" : `; there is ${stringText(near)}`}.`,
        stringText(value),
      );
    }
  }
  return flags;
}

async function isKnown(store: WholeStore, iri: string): Promise<boolean> {
  const name = iriText(iri);
  const answer = await store.ask(`ASK { { ${name} ?p ?o } UNION { ?s ${name} ?o } UNION { ?s ?p ${name} } }`);
  return answer.kind !== "boolean" || answer.value;
}

/** Flags that the gold answer raises. */
export function answerFlags(facts: QueryFacts, gold: GoldAnswer | undefined): readonly Flag[] {
  if (gold === undefined) return [];
  const { alternatives = [] } = gold;
  if (alternatives.length > 0)
    return [
      tiedLimit("LIMIT of a sub-SELECT takes some of the rows that are equal in order; others give another answer."),
    ];
  if (gold.kind === "boolean") return [];
  const rows = gold.kind === "graph" ? gold.triples : gold.rows;
  if (rows.length === 0) return [empty("The gold answer is empty.")];
  if (gold.kind === "graph") return [];
  if (isAllNothing(gold.rows, facts)) return [empty("The gold answer counts nothing.")];
  const shown = new Set(gold.rows.map((row) => JSON.stringify(row)));
  const tied = (gold.ties ?? []).flatMap(({ others = [] }) => others);
  const count = tied.filter((row) => !shown.has(JSON.stringify(row))).length;
  return count === 0 ? [] : [tiedLimit(`${count} other rows are equal in order to those in the answer.`)];
}

const tiedLimit = (evidence: string): Flag => ({ name: "limit-cuts-ties", evidence, place: "LIMIT" });

const empty = (evidence: string): Flag => ({ name: "empty", evidence, place: "WHERE" });

const isAllNothing = ([row = [], ...more]: readonly (readonly string[])[], { columns, keys }: QueryFacts): boolean =>
  keys === undefined &&
  more.length === 0 &&
  columns.every(({ aggregate }) => aggregate !== undefined) &&
  row.every((cell) => cell === "0" || cell === "");
