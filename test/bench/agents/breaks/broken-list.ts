import { iriText, stringText } from "../../../../src/rdf/term-text.ts";
import { rdf, xsd } from "../../../../src/rdf/vocabularies.ts";
import { triplesOf } from "../../../support/published-questions.ts";
import type { Random } from "../../../support/random.ts";

/** A right query, and the same with a mistake that its endpoint accepts. */
export interface BrokenQuery {
  readonly kind: string;
  readonly right: string;
  readonly wrong: string;
}

/** Properties of the instances of a class, with their distinct values as N-Triples. */
interface Shape {
  readonly class: string;
  readonly property: string;
  readonly values: readonly string[];
}

/**
 * Broken queries over the classes and properties of some data: a value that never matches in a part that rows need not match, a
 * node that is skipped, a date as people write it.
 * @param each queries of each kind
 */
export function brokenList(data: string, each: number, random: Random): readonly BrokenQuery[] {
  const shapes = shapesOf(data);
  const kinds: readonly ((random: Random) => BrokenQuery | undefined)[] = [
    ...Object.entries(parts).map(
      ([kind, write]) =>
        (): BrokenQuery | undefined =>
          valueBreak(kind, write, texts(shapes), random),
    ),
    (): BrokenQuery | undefined => skippedNode(shapes, random),
    (): BrokenQuery | undefined => dateBreak(shapes, random),
  ];
  return kinds.flatMap((make) => Array.from({ length: each }, () => make(random) ?? []).flat());
}

function shapesOf(data: string): readonly Shape[] {
  const triples = [...triplesOf(data)];
  const classes = new Map(triples.filter(([, property]) => property === iriText(rdf.type)).map(([s, , o]) => [s, o]));
  const values = new Map<string, Set<string>>();
  for (const [subject, property, object] of triples) {
    const own = classes.get(subject);
    if (own === undefined || property === iriText(rdf.type)) continue;
    const key = `${own} ${property}`;
    values.set(key, (values.get(key) ?? new Set()).add(classes.get(object) ?? object));
  }
  return Array.from(values, ([key, found]) => {
    const [type = "", property = ""] = key.split(" ");
    return { class: type, property, values: [...found] };
  });
}

/** Of few different values, which a description can hold. */
const texts = (shapes: readonly Shape[]): readonly Shape[] =>
  shapes.filter(
    ({ values }) =>
      values.length > 2 &&
      values.length < 60 &&
      values.every((value) => /^"[^"\\]*\p{L}{3}[^"\\]*"(?:@|$)/u.test(value)),
  );

type Part = (shape: Shape, one: string, other: string) => string;

const parts: Readonly<Record<string, Part>> = {
  MINUS: ({ class: type, property }, one) => `SELECT ?s { ?s a ${type} MINUS { ?s ${property} ${one} } }`,
  "NOT EXISTS": ({ class: type, property }, one) =>
    `SELECT ?s { ?s a ${type} FILTER NOT EXISTS { ?s ${property} ${one} } }`,
  "||": ({ class: type, property }, one, other) =>
    `SELECT ?s ?v { ?s a ${type} ; ${property} ?v FILTER(?v = ${other} || ?v = ${one}) }`,
  IN: ({ class: type, property }, one, other) =>
    `SELECT ?s ?v { ?s a ${type} ; ${property} ?v FILTER(?v IN (${other}, ${one})) }`,
  VALUES: ({ class: type, property }, one, other) =>
    `SELECT ?s ?v { VALUES ?v { ${other} ${one} } ?s a ${type} ; ${property} ?v }`,
  UNION: ({ class: type, property }, one, other) =>
    `SELECT ?s { ?s a ${type} { ?s ${property} ${other} } UNION { ?s ${property} ${one} } }`,
  OPTIONAL: ({ class: type, property }, one) =>
    `SELECT ?s ?o { ?s a ${type} OPTIONAL { ?o ${property} ${one} FILTER(?o = ?s) } }`,
  "!=": ({ class: type, property }, one) => `SELECT ?s ?v { ?s a ${type} ; ${property} ?v FILTER(?v != ${one}) }`,
};

function valueBreak(kind: string, write: Part, shapes: readonly Shape[], random: Random): BrokenQuery | undefined {
  if (shapes.length === 0) return undefined;
  const shape = random.pick(shapes);
  const one = random.pick(shape.values);
  const other = random.pick(shape.values.filter((value) => value !== one));
  const changed = misspelt(one, random);
  if (shape.values.includes(changed)) return undefined;
  return { kind, right: write(shape, one, other), wrong: write(shape, changed, other) };
}

/** A letter left out, other case, another language or none. */
function misspelt(literal: string, random: Random): string {
  const [, text = "", tag = ""] = /^"(.*)"(.*)$/.exec(literal) ?? [];
  const at = 1 + random.below(text.length - 1);
  const ways = [
    `${stringText(text.slice(0, at) + text.slice(at + 1))}${tag}`,
    `${stringText(text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase())}${tag}`,
    `${stringText(text)}${tag === "" ? "@en" : ""}`,
  ];
  return random.pick(ways);
}

/** A property of the node behind, asked of the node before. */
function skippedNode(shapes: readonly Shape[], random: Random): BrokenQuery | undefined {
  const classes = new Set(shapes.map((shape) => shape.class));
  const links = shapes.flatMap((link) =>
    shapes
      .filter((behind) => link.values.includes(behind.class) && link.values.length === 1 && behind.class !== link.class)
      .filter(
        ({ property, values }) => isOwn(shapes, link.class, property) && values.every((value) => !classes.has(value)),
      )
      .map((behind) => ({ link, behind })),
  );
  if (links.length === 0) return undefined;
  const { link, behind } = random.pick(links);
  const beside = shapes.find((shape) => shape.class === link.class && shape.property !== link.property);
  const own = beside !== undefined && random.below(2) === 0 ? ` ; ${beside.property} ?w` : "";
  return {
    kind: own === "" ? "node skipped, class alone" : "node skipped",
    right: `SELECT ?s ?v { ?s a ${link.class}${own} ; ${link.property} ?n . ?n ${behind.property} ?v }`,
    wrong: `SELECT ?s ?v { ?s a ${link.class}${own} ; ${behind.property} ?v }`,
  };
}

const isOwn = (shapes: readonly Shape[], type: string, property: string): boolean =>
  shapes.every((shape) => shape.class !== type || shape.property !== property);

/** Dates and times in other types and spellings. */
function dateBreak(shapes: readonly Shape[], random: Random): BrokenQuery | undefined {
  const dated = shapes.filter(({ values: [first = ""] }) => /#(?:date|dateTime)>$/.test(first));
  if (dated.length === 0) return undefined;
  const { class: type, property, values } = random.pick(dated);
  const value = random.pick(values);
  const [, text = ""] = /^"([^"]+)"/.exec(value) ?? [];
  const day = text.slice(0, 10);
  const time = text.length > 10 ? text : `${text}T00:00:00`;
  const isTime = value.includes("#dateTime>");
  const ways: Readonly<Record<string, string>> = {
    plain: stringText(text),
    day: isTime ? `"${day}"^^<${xsd.date}>` : `"${time}"^^<${xsd.dateTime}>`,
    "with a blank": isTime ? stringText(time.replace("T", " ")) : stringText(`${day} 00:00:00`),
    "typed with a blank": `"${time.replace("T", " ")}"^^<${xsd.dateTime}>`,
    "day in words": `"${day.split("-").toReversed().join("/")}"^^<${xsd.date}>`,
  };
  const [way, wrong] = random.pick(Object.entries(ways));
  const isPattern = random.below(2) === 0;
  const write = (literal: string): string =>
    isPattern
      ? `SELECT ?s { ?s a ${type} ; ${property} ${literal} }`
      : `SELECT ?s ?d { ?s a ${type} ; ${property} ?d FILTER(?d >= ${literal}) }`;
  return { kind: `date ${way}`, right: write(value), wrong: write(wrong) };
}
