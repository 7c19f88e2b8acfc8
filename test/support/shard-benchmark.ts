import type {
  Cell,
  Pattern,
  Problem,
  QueryFeatures,
  Solution,
  Rule,
  Interpretation,
} from "../../shards/src/rules/problem.ts";
import type { ReportInput } from "../../shards/src/report/shard-report.ts";

/** A small benchmark whose figures are worked out by hand in the tests that use it. */

export const ns = "http://shop.example/";
const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

export const literal: Interpretation = {
  name: "literal",
  classRule: "pair",
  verticalRule: "pair",
  typeIsPredicate: true,
  horizontalCoversJoins: false,
  infer: false,
  exists: false,
  buckets: 2,
};

interface Asked {
  readonly id: string;
  readonly question: string;
  readonly same?: readonly string[];
  readonly predicates: readonly string[];
  readonly classes: readonly string[];
}

const full = (names: readonly string[]): readonly string[] => names.map((name) => ns + name);

function featuresOf({ id, question, same, predicates, classes }: Asked): QueryFeatures {
  const patterns: Pattern[] = [
    ...classes.map((name) => ({ predicate: `<${type}>`, object: `<${ns}${name}>` })),
    ...predicates.map((name) => ({ predicate: `<${ns}${name}>` })),
  ];
  const typed = classes.length > 0 ? [type] : [];
  return {
    query: { id, text: `SELECT * WHERE { ?s ?p "${id}" }`, question, same: same ?? [id] },
    predicates: [...full(predicates), ...typed].toSorted(),
    classes: full(classes),
    subjectVariables: 1,
    patterns,
  };
}

const rules = {
  price: { kind: "vertical", predicates: full(["label", "price"]) },
  joins: { kind: "class", classes: full(["Order", "Product"]) },
  people: { kind: "horizontal", class: `${ns}Person`, buckets: 2 },
} as const satisfies Readonly<Record<string, Rule>>;

const cell = (types: readonly string[], predicate: string, [bucket, triples]: readonly [number, number]): Cell => ({
  types: full(types),
  predicate: predicate === "type" ? type : ns + predicate,
  bucket,
  triples,
});

/** People in two buckets, products with a price, a label and a type, orders with a type. */
export const cells: readonly Cell[] = [
  cell(["Person"], "type", [0, 6]),
  cell(["Person"], "type", [1, 4]),
  cell(["Product"], "label", [0, 5]),
  cell(["Product"], "price", [0, 5]),
  cell(["Product"], "type", [0, 5]),
  cell(["Order"], "type", [1, 15]),
];

export const problem: Problem = {
  queries: [
    featuresOf({ id: "q1", question: "Who?", same: ["q1", "q5", "q6"], predicates: [], classes: ["Person"] }),
    featuresOf({ id: "q2", question: "What costs what?", predicates: ["label", "price"], classes: [] }),
    featuresOf({ id: "q3", question: "Which orders?", predicates: ["price"], classes: ["Order", "Product"] }),
    featuresOf({ id: "q4", question: "Who flies?", predicates: ["flight"], classes: [] }),
  ],
  candidates: [
    { rule: rules.price, covers: [1] },
    { rule: rules.joins, covers: [2] },
    { rule: rules.people, covers: [0] },
  ],
  placement: {
    precedence: ["horizontal", "vertical", "class"],
    cells,
    // q3 asks for the type of orders and of products, and for prices; nobody flies.
    touches: [[0, 1], [2, 3], [3, 4, 5], []],
  },
};

export const solution: Solution = {
  reading: literal,
  rules: [rules.price, rules.joins, rules.people],
  cost: 3,
  lowerBound: 3,
  proven: true,
  impossible: [{ query: 3, reason: "No triple of the data matches one of its patterns." }],
  seconds: 0.25,
};

/** What the rules make of the cells. */
export const shards = [
  { key: `c/${ns}Order`, triples: 15 },
  { key: `c/${ns}Product`, triples: 5 },
  { key: `h/${ns}Person/0`, triples: 6 },
  { key: `h/${ns}Person/1`, triples: 4 },
  { key: `v/${ns}label`, triples: 5 },
  { key: `v/${ns}price`, triples: 5 },
] as const;

/** A report's input over it; the reading beside it found no proof. */
export const reportInput = {
  dataset: {
    id: "shop",
    title: "A shop",
    licence: "https://creativecommons.org/licenses/by/4.0/",
    citation: "Doe, A shop, 2024",
  },
  mode: "guaranteed",
  precedence: ["horizontal", "vertical", "class"],
  problem,
  solution,
  shards,
  touched: [
    [`h/${ns}Person/0`, `h/${ns}Person/1`],
    [`v/${ns}label`, `v/${ns}price`],
    [`c/${ns}Order`, `c/${ns}Product`, `v/${ns}price`],
    [],
  ],
  sources: ["several-shards", undefined, "one-shard", "none"],
  readings: [
    {
      solution,
      candidates: 3,
      applicability: { questions: 6, distinct: 4, vertical: 2, class: 1, horizontal: 4, none: 1 },
    },
    {
      solution: {
        ...solution,
        reading: { ...literal, name: "single-class", classRule: "single" },
        cost: 3,
        lowerBound: 2,
        proven: false,
      },
      candidates: 5,
      applicability: { questions: 6, distinct: 4, vertical: 2, class: 1, horizontal: 4, none: 1 },
    },
  ],
  leftOut: [{ id: "q9", place: "entry 9", code: "QUERY_SYNTAX", message: "A } is missing.", line: 2, column: 7 }],
} as const satisfies ReportInput;

const attack = `"><img src=x onerror=alert(1)><script>alert(2)</script>'&\u202E`;

/** The same with markup in everything that comes from outside, and texts that are far too long. */
export const hostileInput: ReportInput = {
  ...reportInput,
  dataset: { id: attack, title: attack, licence: "javascript:alert(3)", citation: attack, source: attack },
  problem: {
    ...problem,
    queries: problem.queries.map(({ predicates, classes, subjectVariables, patterns }) => ({
      predicates,
      classes,
      subjectVariables,
      patterns,
      query: { id: attack, same: [attack], question: `${attack}${"long ".repeat(5000)}`, text: attack.repeat(1000) },
    })),
    candidates: [{ rule: { kind: "vertical", predicates: [`${ns}${attack}`, `${ns}price`] }, covers: [0] }],
  },
  solution: {
    ...solution,
    rules: [{ kind: "vertical", predicates: [`${ns}${attack}`, `${ns}price`] }],
    reading: { ...literal, name: attack },
    impossible: [{ query: 3, reason: attack }],
  },
  shards: [
    { key: `v/${ns}${attack}`, triples: 1 },
    { key: `c/${attack.repeat(500)}`, triples: 2 },
    { key: `v/${ns}price`, triples: 2 },
  ],
  touched: [[`v/${ns}${attack}`], [`c/${attack.repeat(500)}`], [], [`v/${ns}${attack}`, `v/${ns}price`]],
  leftOut: [{ id: attack, place: attack, code: "QUERY_SYNTAX", message: attack }],
};
