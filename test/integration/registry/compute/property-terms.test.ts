import type * as RDF from "@rdfjs/types";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/clock.ts";
import type { PropertyTerms } from "../../../../src/registry/descriptions.ts";
import { createDescriber } from "../../../../src/registry/descriptions/compute/describer.ts";
import { termFromText } from "../../../../src/results/terms.ts";
import { createPolicyAsker, endpointUrl, type Policy } from "./policy-asker.ts";

// Of an endpoint that is too large to be read, prefixes of IRIs and kinds of terms are counted. A false one loses rows later.

const v = (name: string): string => `http://v.example/${name}`;
const many = (count: number, term: (number: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, number) => term(number));
const iri = (text: string): string => `<${text}>`;

/** Subjects of the property of that name; each has a literal, of `object` an object. */
const subjects: Readonly<Record<string, readonly string[]>> = {
  one: many(40, (number) => iri(`http://a.example/item/${number}`)),
  hosts: many(40, (number) => iri(`http://h${number % 3}.example/x/${number}`)),
  manyHosts: many(40, (number) => iri(`http://h${number}.example/x`)),
  begins: [...many(20, (number) => iri(`http://a.example/item/${number}`)), iri("http://a.example/items/1")],
  beginsHash: [iri("http://a.example/item#1"), iri("http://a.example/item/1")],
  upper: [...many(20, (number) => iri(`http://a.example/item/${number}`)), iri("http://A.example/item/1")],
  upperPath: [...many(20, (number) => iri(`http://a.example/item/${number}`)), iri("http://a.example/Item/1")],
  escaped: [...many(20, (number) => iri(`http://a.example/item/${number}`)), iri("http://a.example/%69tem/1")],
  schemes: [
    iri("http://a.example/item/1"),
    iri("https://a.example/item/1"),
    iri("urn:item:1"),
    iri("mailto:x@a.example"),
  ],
  urns: many(20, (number) => iri(`urn:isbn:${number}`)),
  bare: [iri("http://a.example"), iri("http://a.example/"), iri("http://a.example#x"), iri("http://a.example/y")],
  within: [
    iri("http://h.example/item/1"),
    iri("http://h.example/ITEM/5"),
    iri("http://h.example/item/9"),
    iri("http://k.example#1"),
    iri("http://k.example#2"),
    iri("http://k.example#v1/1"),
  ],
  blank: [...many(20, (number) => iri(`http://a.example/item/${number}`)), "_:b1"],
  blanks: many(20, (number) => `_:c${number}`),
  unicode: many(20, (number) => iri(`http://a.example/\u{1f600}/${String.fromCodePoint(0x10300 + number)}`)),
  quoted: many(5, (number) => iri(`http://a.example/it'em\u00e9/${number}`)),
  long: many(5, (number) => iri(`http://a.example/${"x".repeat(300)}/${number}`)),
};
const objects: Readonly<Record<string, readonly string[]>> = {
  mixed: ["<http://o.example/1>", "<http://o.example/2>", '"http://o.example/3"', "_:b7"],
  literals: ['"1"', '"2"@en', '"http://o.example/3"'],
  iris: many(20, (number) => iri(`http://o.example/${number}`)),
};
const lines = [
  ...Object.entries(subjects).flatMap(([name, own]) => own.map((subject) => `${subject} ${iri(v(name))} "x" .`)),
  ...Object.entries(objects).flatMap(([name, own]) =>
    own.map((object, number) => `<http://a.example/item/${number}> ${iri(v(name))} ${object} .`),
  ),
];

const instant = { ...systemClock, setTimeout: (run: () => void) => systemClock.setTimeout(run, 0) };

async function termsAt(policy: Policy, change: (query: string) => string = (query) => query) {
  const asker = createPolicyAsker(lines, policy);
  const changed = {
    ...asker,
    ask: (asking: Parameters<typeof asker.ask>[0]) => asker.ask({ ...asking, query: change(asking.query) }),
  };
  const describer = createDescriber({ asker: changed, clock: instant, pauseMs: 0, readBytes: 0 });
  const { terms } = await describer.describe(
    { endpoint: { url: endpointUrl } },
    { signal: new AbortController().signal },
  );
  return terms;
}

/** What is said of a place and is not so. */
function falseClaims(found: PropertyTerms["subjects"], terms: readonly RDF.Term[]): readonly string[] {
  if (found === undefined) return [];
  const { prefixes, iris, blankNodes, literals } = found;
  const count = (type: string): number => terms.filter(({ termType }) => termType === type).length;
  const outside = terms.filter(
    ({ termType, value }) => termType === "NamedNode" && prefixes?.some((prefix) => value.startsWith(prefix)) === false,
  );
  const counts = [
    ["NamedNode", iris],
    ["BlankNode", blankNodes],
    ["Literal", literals],
  ] as const;
  return [
    ...outside.map(({ value }) => `${value} is outside of ${prefixes?.join(" ")}`),
    ...counts.flatMap(([type, number]) => (number === count(type) ? [] : [`${number} of ${count(type)} ${type}`])),
  ];
}

const allFalse = (terms: Awaited<ReturnType<typeof termsAt>>): readonly string[] => [
  ...Object.entries(subjects).flatMap(([name, own]) =>
    falseClaims(terms?.get(v(name))?.subjects, own.map(termFromText)),
  ),
  ...Object.entries(objects).flatMap(([name, own]) => falseClaims(terms?.get(v(name))?.objects, own.map(termFromText))),
];

it("are found for each property", async () => {
  const terms = await termsAt({});
  const prefixes = Object.fromEntries(
    Object.keys(subjects).map((name) => [name, terms?.get(v(name))?.subjects?.prefixes]),
  );
  expect(allFalse(terms)).toEqual([]);
  expect(prefixes).toEqual({
    one: ["http://a.example/item/"],
    hosts: ["http://h0.example/x/", "http://h1.example/x/", "http://h2.example/x/"],
    manyHosts: undefined,
    begins: ["http://a.example/"],
    beginsHash: ["http://a.example/"],
    upper: ["http://A.example/item/", "http://a.example/item/"],
    upperPath: ["http://a.example/"],
    escaped: ["http://a.example/"],
    schemes: undefined,
    urns: ["urn:isbn:"],
    bare: undefined,
    within: undefined,
    blank: ["http://a.example/item/"],
    blanks: [],
    unicode: ["http://a.example/\u{1f600}/"],
    quoted: ["http://a.example/it'em\u00e9/"],
    long: ["http://a.example/"],
  });
  expect(terms?.get(v("blank"))?.subjects).toMatchObject({ iris: 20, blankNodes: 1, literals: 0 });
  expect(terms?.get(v("mixed"))?.objects).toEqual({
    iris: 2,
    blankNodes: 1,
    literals: 1,
    prefixes: ["http://o.example/"],
  });
  expect(terms?.get(v("literals"))?.objects).toEqual({ iris: 0, blankNodes: 0, literals: 3, prefixes: [] });
});

const limits = [5, 20, 50, 100, 200, 300];
const policies: Readonly<Record<string, Policy>> = {
  "cuts at 10 rows": { rowCap: 10 },
  "cuts at 37 rows": { rowCap: 37 },
  "does not count": { noCount: true },
  "knows no VALUES": { noValues: true },
  "is busy now and then": { busyEvery: 4 },
  ...Object.fromEntries(
    limits.flatMap((workLimit) =>
      (["timeout", "failure", "first-solutions", "marked", "some-triples", "scaled"] as const).map((beyond) => [
        `has a limit of ${workLimit} and then ${beyond}`,
        { workLimit, beyond } satisfies Policy,
      ]),
    ),
  ),
};

describe("are true of an endpoint that", () => {
  it.each(Object.entries(policies))("%s", async (_, policy) => {
    expect(allFalse(await termsAt(policy))).toEqual([]);
  });

  it.each([
    ["orders texts without their case", (query: string) => query.replaceAll(/(MIN|MAX)\(\?x\)/gu, "$1(LCASE(?x))")],
    [
      "ignores the case of texts",
      (query: string) =>
        query
          .replaceAll(/(MIN|MAX)\(\?x\)/gu, "$1(LCASE(?x))")
          .replaceAll(/STRSTARTS\(((?:STR\(\?\w+\))|"A"), ([^)]+)\)/gu, "STRSTARTS(LCASE($1), LCASE($2))"),
    ],
    [
      "gives any text as the first and the last",
      (query: string) => query.replaceAll(/(MIN|MAX)\(\?x\)/gu, "SAMPLE(?x)"),
    ],
    [
      "takes all hosts for one",
      (query: string) =>
        query
          .replace("BIND(STRBEFORE(STRAFTER", 'BIND(IF(true, "", STRAFTER')
          .replace(', "://"), "/") AS ?a)', ', "://")) AS ?a)'),
    ],
  ])("%s", async (_, change) => {
    expect(allFalse(await termsAt({}, change))).toEqual([]);
  });

  it("has more triples now than it was described with", async () => {
    let asked = 0;
    const more = createPolicyAsker([...lines, `<http://else.example/1> ${iri(v("one"))} "x" .`]);
    const before = createPolicyAsker(lines);
    const describer = createDescriber({
      asker: {
        ...before,
        ask: (asking) => (asking.query.includes("?first") && ++asked > 0 ? more : before).ask(asking),
      },
      clock: instant,
      pauseMs: 0,
      readBytes: 0,
    });
    const { signal } = new AbortController();
    const { terms } = await describer.describe({ endpoint: { url: endpointUrl } }, { signal });
    expect(asked).toBeGreaterThan(1);
    expect(terms?.get(v("one"))?.subjects).toBeUndefined();
  });
});
