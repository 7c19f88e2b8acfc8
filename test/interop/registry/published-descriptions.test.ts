import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Comparison, compareWithTruth } from "../../support/compare-with-truth.ts";
import { describedText, describedUnits } from "../../support/described-data.ts";
import { createEndpointDescriber, type EndpointDescriber } from "../../support/endpoint-describer.ts";
import { startFuseki } from "../../support/engines/fuseki.ts";
import { startVirtuoso } from "../../support/engines/virtuoso.ts";
import { asRetrieved, goneTerms, listsOnly, scaled, withGoneTerms } from "../../support/published-description.ts";
import { startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { truthfulDescription } from "../../support/truthful-description.ts";
import { truthOf } from "../../support/void-truth.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

// The blank nodes of a file that is loaded twice are different ones.
const shape = { seed: 20_240_601, triples: 2_000, classes: 12, maxProperties: 12, blankNodes: false };
const units = [...describedUnits(shape)];
const truth = truthOf(units.flat());
const whole = truthfulDescription(truth);
const text = describedText(shape);
const graph = "http://data.example/graph/";

/** An engine over the data of `shape`. */
interface Started {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

const engines: Readonly<Record<string, () => Promise<Started>>> = {
  oxigraph: async () => {
    const server = await startSparqlTestServer(text);
    return { url: server.url, stop: () => server.close() };
  },
  fuseki: () => startFuseki({ data: text }),
  // One file lies in two graphs, and half of it in a third: Virtuoso gives each triple two or three times.
  virtuoso: () =>
    startVirtuoso({
      graphs: {
        [`${graph}1`]: text,
        [`${graph}2`]: text,
        [`${graph}3`]: text.slice(0, text.indexOf("\n", text.length / 2) + 1),
      },
    }),
};

let describer: EndpointDescriber;

beforeAll(() => {
  // Read whole, data of this size would need no published description.
  describer = createEndpointDescriber({ readBytes: 0 });
});

afterAll(() => describer.close());

/** Nothing that is said is wrong, claims apart. */
async function described(
  started: Started,
  published?: VoidDescription,
): Promise<Comparison & { readonly description: VoidDescription }> {
  const known = published && { known: asRetrieved(published) };
  const description = await describer.describe(started.url, known ?? {});
  const comparison = compareWithTruth(description, truth);
  const { wrongExact, wrongBounds, wrongComplete } = comparison;
  expect({ wrongExact, wrongBounds, wrongComplete }).toEqual({ wrongExact: [], wrongBounds: [], wrongComplete: [] });
  return { ...comparison, description };
}

describe.each(Object.keys(engines))("a description of %s", (name) => {
  let started: Started;
  let alone: Awaited<ReturnType<typeof described>>;

  beforeAll(async () => {
    started = await (engines[name] ?? (() => Promise.reject(new Error(name))))();
    alone = await described(started);
  });

  afterAll(() => started?.stop());

  it("is exact and complete", () => {
    const { exactShare, lists, completeLists, recall, description } = alone;
    process.stdout.write(`${name}: ${description.cost.requests} requests\n`);
    expect({ exactShare, recall, incomplete: lists - completeLists }).toEqual({
      exactShare: 1,
      recall: 1,
      incomplete: 0,
    });
  });

  it.each<[string, VoidDescription, number]>([
    ["lists", listsOnly(whole), 5],
    ["everything", whole, 15],
    ["and two terms that are gone", withGoneTerms(whole), 15],
    ["half of each count", scaled(whole, 0.5), -3],
    ["three times each count", scaled(whole, 3), 0],
  ])(
    "is the same when its publisher describes %s",
    async (what, published, saved) => {
      const { statements, invented, completeLists, description } = await described(started, published);
      const { requests } = description.cost;
      process.stdout.write(`${name}, ${what}: ${requests} requests\n`);
      expect({ exact: statements.exact, completeLists, invented }).toEqual({
        exact: alone.statements.exact,
        completeLists: alone.completeLists,
        invented: [],
      });
      expect(requests).toBeLessThanOrEqual(alone.description.cost.requests - saved);
      const gone = description.unknown.filter(({ why }) => why === "contradicted").map(({ what: fact }) => fact);
      expect(gone).toHaveLength(published.classPartitions.some((one) => one.class === goneTerms.class) ? 2 : 0);
    },
    120_000,
  );
});
