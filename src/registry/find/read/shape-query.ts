import { amountText } from "../../../figures.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import { isWritableIri } from "../../../rdf/term-text.ts";
import { rdf } from "../../../rdf/vocabularies.ts";
import { type PublishedShape, type ShapeNode, shapeTriples } from "../../catalog/published/shapes-file.ts";
import { PrefixTable } from "../../schema/prefixes.ts";
import { nameText, nameWords } from "../words/words.ts";

/** Rows that a written query asks for. */
const rows = 20;

/** An example query that is written from a published shape. */
export interface ShapeExample {
  readonly query: string;
  /** Its terms in words, for readers: "gene: is expressed in anatomical entity, label". */
  readonly words: string;
  /** Where the shape stands: "seen in 12 published queries". */
  readonly seen: string;
}

/** A SELECT query for the things that a shape is about; undefined where it has an IRI that no query can name. */
export function shapeExample(shape: PublishedShape): ShapeExample | undefined {
  const query = shapeQuery(shape);
  const { uses } = shape;
  const seen =
    uses === 0 ? "from a published model" : `seen in ${amountText(uses, "published query", "published queries")}`;
  return query === undefined ? undefined : { query, words: shapeWords(shape), seen };
}

function shapeQuery(shape: PublishedShape): string | undefined {
  const { write, declarations } = new PrefixTable(irisOf(shape)).writer();
  const patterns = shapePatterns(shape, write);
  if (patterns === undefined) return undefined;
  const margin = shape.graphs === undefined ? "  " : "    ";
  const lines = patterns.map((parts) => `${margin}${parts.join(` ;\n${margin}  `)} .`);
  return [...declarations(), "SELECT * WHERE {", ...inGraph(shape, lines), "}", `LIMIT ${rows}`].join("\n");
}

/** Its triple patterns on one line, with IRIs as `write` gives them; undefined as for `shapeExample`. */
export function shapeText(shape: PublishedShape, write: (iri: string) => string): string | undefined {
  const patterns = shapePatterns(shape, write)?.map((parts) => parts.join(" ; "));
  return patterns === undefined
    ? undefined
    : inGraph(shape, [patterns.join(" . ")])
        .join(" ")
        .trim();
}

function shapeWords({ of, form, steps }: PublishedShape): string {
  const ends = steps.map(({ property, class: type, value }) => {
    const end = type ?? value;
    return end === undefined ? nameOf(property) : `${nameOf(property)} ${nameOf(end)}`;
  });
  const list = ends.join(form === "star" ? ", " : ", its ");
  return of === undefined ? list : `${nameOf(of)}: ${list}`;
}

const code = /^[A-Z]+_?\d+$/i;

/** Codes as they are written, names in words. */
function nameOf(iri: string): string {
  const { local } = iriParts(iri);
  return (code.test(local) ? local : nameText(local)) || iri;
}

function inGraph({ graphs }: PublishedShape, lines: readonly string[]): readonly string[] {
  if (graphs === undefined) return lines;
  const [graph] = graphs;
  return [`  GRAPH ${graph === undefined ? "?graph" : `<${graph}>`} {`, ...lines, "  }"];
}

function irisOf({ of, steps, typeBy, graphs = [] }: PublishedShape): readonly string[] {
  const ofSteps = steps.flatMap(({ property, class: type, value }) => [property, type, value]);
  return [of, typeBy, ...ofSteps, ...graphs].filter((iri) => iri !== undefined);
}

/** Predicates with objects by subject, the subject before the first; the first node first. */
function shapePatterns(
  shape: PublishedShape,
  write: (iri: string) => string,
): readonly (readonly string[])[] | undefined {
  if (!irisOf(shape).every((iri) => isWritableIri(iri) && !/\p{Cf}/u.test(iri))) return undefined;
  const patterns = new Map<string, string[]>();
  const variables = new Map<number, string>();
  const add = (subject: string, predicate: string, object: string): void => {
    const own = patterns.get(subject);
    if (own === undefined) patterns.set(subject, [`${subject} ${predicate} ${object}`]);
    else own.push(`${predicate} ${object}`);
  };
  const typed = new Set<number>();
  const nodeText = (node: ShapeNode, property: string): string => {
    if (node.value !== undefined) return write(node.value);
    const name = variables.get(node.at) ?? freeName(node.class ?? (node.at === 0 ? "thing" : property), variables);
    variables.set(node.at, name);
    return `?${name}`;
  };
  const addType = ({ at, class: type }: ShapeNode, subject: string): void => {
    if (type === undefined || typed.has(at)) return;
    typed.add(at);
    add(subject, shape.typeBy === undefined || shape.typeBy === rdf.type ? "a" : write(shape.typeBy), write(type));
  };
  for (const { from, property, to, repeated } of shapeTriples(shape)) {
    const [subject, object] = [nodeText(from, property), nodeText(to, property)];
    addType(from, subject);
    add(subject, `${write(property)}${repeated}`, object);
    addType(to, object);
  }
  return [...patterns.values()];
}

/** In lower camel case, with a number where it is taken; `P36` is `p36`. */
function freeName(iri: string, taken: ReadonlyMap<number, string>): string {
  const [first = "value", ...others] = nameWords(iriParts(iri).local.replaceAll(/[^A-Za-z0-9]+/g, " "));
  const joined = [first.toLowerCase(), ...others.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join("");
  const name = /^[a-z]/.test(joined) ? joined.slice(0, 40) : "value";
  const names = new Set(taken.values());
  let free = name;
  for (let number = 2; names.has(free); number++) free = `${name}${number}`;
  return free;
}
