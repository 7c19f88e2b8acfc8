import { createRandom, type Random } from "./random.ts";

/** Terms in N-Triples syntax. */
export type Triple = readonly [subject: string, predicate: string, object: string];

/** What a generated graph looks like; the same shape gives the same graph everywhere. */
export interface DataShape {
  readonly seed: number;
  /** Wanted number of triples; the graph has about as many, more when every class needs one instance. */
  readonly triples: number;
  /** Classes beside `owl:Class` and one class without an IRI; sizes are skewed, the first is the largest. */
  readonly classes: number;
  /** Most properties of one class, at least 5; default 50. */
  readonly maxProperties?: number;
  /** False leaves blank nodes out; default true. */
  readonly blankNodes?: boolean;
}

const rdfType = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const owlClass = "<http://www.w3.org/2002/07/owl#Class>";
const label = "<http://www.w3.org/2000/01/rdf-schema#label>";
const xsd = "http://www.w3.org/2001/XMLSchema#";
const base = "http://data.example/";

/** IRIs that a careless writer of queries trips over. */
const oddClassNames = ["Größe", "O'Neill", "a(b)", "x%20y", "semi;colon,comma", "q?x=1&y=$2#z"];

/** Properties that many classes share. */
const sharedProperties = [
  "http://www.w3.org/2000/01/rdf-schema#label",
  "http://purl.org/dc/terms/title",
  "http://xmlns.com/foaf/0.1/name",
  "http://purl.org/dc/terms/date",
  "http://www.w3.org/2002/07/owl#sameAs",
  "http://purl.org/dc/terms/subject",
];

const literalKinds = [
  "string",
  "tagged",
  "integer",
  "decimal",
  "double",
  "date",
  "dateTime",
  "boolean",
  "code",
] as const;

type LiteralKind = (typeof literalKinds)[number];
type ValueKind = LiteralKind | "link" | "external" | "part" | "mixed";

interface Property {
  readonly iri: string;
  readonly kind: ValueKind;
  /** Classes that links lead to, and the share of instances that have the property. */
  readonly targets: readonly number[];
  readonly share: number;
}

interface Class {
  readonly iri: string;
  readonly index: number;
  readonly properties: readonly Property[];
  /** Instances so far. */
  size: number;
}

/**
 * Generates a graph unit by unit. A unit is a few triples; all triples of a subject, and all that name a blank node, lie
 * in one unit. No triple comes twice. There are subjects with no class and with several, classes that are instances of
 * `owl:Class`, a class that is a blank node, objects of several classes and datatypes, links that lead nowhere.
 */
export function* describedUnits(shape: DataShape): Generator<readonly Triple[]> {
  const random = createRandom(shape.seed);
  const classes = planClasses(shape, random);
  let triples = 0;
  const { blankNodes = true } = shape;
  for (const unit of schemaUnits(classes, blankNodes)) {
    triples += unit.length;
    yield unit;
  }
  const first = triples;
  for (const [index, share] of sharesOf(classes.length).entries()) {
    const goal = first + share * (shape.triples - first);
    const one = at(classes, index);
    do {
      const unit = instance({ one, classes, random, blankNodes });
      triples += unit.length;
      yield unit;
    } while (triples < goal);
  }
}

/** The whole graph as N-Triples. */
export function describedText(shape: DataShape): string {
  return [...describedUnits(shape)].map(unitText).join("");
}

export const unitText = (unit: readonly Triple[]): string => unit.map((triple) => `${triple.join(" ")} .\n`).join("");

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new RangeError(`no item ${index} of ${items.length}`);
  return item;
}

/** Cumulative shares of the triples, in the order of the classes: a power law. */
function sharesOf(count: number): readonly number[] {
  const weights = Array.from({ length: count }, (_, index) => (index + 1) ** -0.8);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return weights.map((weight) => (sum += weight) / total);
}

function planClasses({ classes: count, maxProperties = 50 }: DataShape, random: Random): readonly Class[] {
  const classes: Class[] = [];
  const pools = Math.min(20, Math.ceil(count / 5));
  for (let index = 0; index < count; index++) {
    const name = oddClassNames[index - 1] ?? `Class${index}`;
    const size = 5 + Math.floor((random.below(1_000) / 1_000) ** 2 * (maxProperties - 4));
    const properties = new Map<string, Property>();
    while (properties.size < size) {
      const property = planProperty({ classIndex: index, pools, number: properties.size }, random);
      properties.set(property.iri, property);
    }
    classes.push({ iri: `<${base}class/${name}>`, index, properties: [...properties.values()], size: 0 });
  }
  return classes;
}

interface PropertyPlan {
  readonly classIndex: number;
  /** Sets of properties that classes draw from. */
  readonly pools: number;
  readonly number: number;
}

function planProperty({ classIndex, pools, number }: PropertyPlan, random: Random): Property {
  const isShared = number < 2 || random.chance(0.15);
  const iri = isShared
    ? `<${random.pick(sharedProperties)}>`
    : `<${base}property/${classIndex % pools}-${random.below(60)}>`;
  const roll = random.below(100);
  const kind: ValueKind =
    iri === label || roll < 45
      ? random.pick(literalKinds)
      : roll < 75
        ? "link"
        : roll < 83
          ? "external"
          : roll < 90
            ? "part"
            : "mixed";
  const targets = [random.below(classIndex + 1), random.below(classIndex + 1)];
  return { iri, kind, targets, share: number === 0 ? 1 : 0.3 + random.below(70) / 100 };
}

/** Some classes are described as resources themselves; one class is a restriction without an IRI. */
function* schemaUnits(classes: readonly Class[], blankNodes: boolean): Generator<readonly Triple[]> {
  for (const { iri, index } of classes.slice(0, 5)) {
    yield [
      [iri, rdfType, owlClass],
      [iri, label, `"Class ${index}"@en`],
    ];
  }
  if (!blankNodes) return;
  yield [
    [`<${base}restricted>`, rdfType, "_:restriction"],
    [`<${base}restricted>`, label, '"of a class without an IRI"'],
    ["_:restriction", rdfType, "<http://www.w3.org/2002/07/owl#Restriction>"],
  ];
}

interface Making {
  readonly one: Class;
  readonly classes: readonly Class[];
  readonly random: Random;
  readonly blankNodes: boolean;
}

/** One instance with its properties; every tenth or so is untyped, has two classes or is a blank node. */
function instance(making: Making): readonly Triple[] {
  const { one, classes, random, blankNodes } = making;
  const number = one.size++;
  const roll = number === 0 ? 99 : random.below(100);
  const subject = roll < 4 && blankNodes ? `_:b${one.index}x${number}` : instanceIri(one.index, number);
  const triples = new Map<string, Triple>();
  const add = (...triple: Triple): void => {
    triples.set(triple.join(" "), triple);
  };
  if (roll < 4 || roll >= 10) add(subject, rdfType, one.iri);
  if (roll >= 10 && roll < 20) add(subject, rdfType, at(classes, (one.index + 1) % classes.length).iri);
  for (const property of one.properties) {
    if (!random.chance(property.share)) continue;
    const values = random.chance(0.15) ? 2 : 1;
    for (let value = 0; value < values; value++) addValue({ ...making, subject, property, add });
  }
  return [...triples.values()];
}

const instanceIri = (classIndex: number, number: number): string => `<${base}resource/${classIndex}/${number}>`;

interface Adding extends Making {
  readonly subject: string;
  readonly property: Property;
  readonly add: (...triple: Triple) => void;
}

function addValue(adding: Adding): void {
  const { one, random, subject, property, add, blankNodes } = adding;
  const kind =
    property.kind === "mixed" ? random.pick(["link", "string", "integer", "external"] as const) : property.kind;
  switch (kind) {
    case "link":
      add(subject, property.iri, linkTarget(adding));
      break;
    case "external":
      add(subject, property.iri, `<http://elsewhere.example/item?id=${random.below(5_000)}>`);
      break;
    case "part": {
      if (!blankNodes) break;
      const part = `_:p${one.index}x${one.size}x${random.below(1_000_000)}`;
      add(subject, property.iri, part);
      if (random.chance(0.7)) add(part, rdfType, `<${base}class/Part>`);
      add(part, `<${base}property/of>`, subject);
      break;
    }
    default:
      add(subject, property.iri, literals[kind](random.below(2_000)));
  }
}

function linkTarget({ classes, property, random }: Adding): string {
  const target = at(classes, random.pick(property.targets));
  const number = Math.floor((random.below(1_000) / 1_000) ** 2 * Math.max(1, target.size));
  return instanceIri(target.index, number);
}

const typed = (text: string | number, type: string): string => `"${text}"^^<${xsd}${type}>`;
const day = (number: number): string => `20${10 + (number % 15)}-03-${10 + (number % 19)}`;

/** Canonical lexical forms only: engines that store values give those back, and count others as the same. */
const literals: Readonly<Record<LiteralKind, (number: number) => string>> = {
  string: (number) => `"text ${number}"`,
  tagged: (number) => `"text ${number}"@${at(["en", "de", "fr", "pt-br"], number % 4)}`,
  integer: (number) => typed(number, "integer"),
  decimal: (number) => typed(`${number}.5`, "decimal"),
  double: (number) => typed(`${1 + (number % 9)}.25E0`, "double"),
  date: (number) => typed(day(number), "date"),
  dateTime: (number) => typed(`${day(number)}T10:00:00Z`, "dateTime"),
  boolean: (number) => typed(String(number % 2 === 0), "boolean"),
  code: (number) => `"code-${number}"^^<${base}datatype/code>`,
};
