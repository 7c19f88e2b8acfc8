import { globSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareWithTruth } from "../../support/compare-with-truth.ts";
import type { Triple } from "../../support/described-data.ts";
import type { DistinctFault } from "../../support/distinct-faults.ts";
import { createEndpointDescriber } from "../../support/endpoint-describer.ts";
import { startFuseki } from "../../support/engines/fuseki.ts";
import { startVirtuoso } from "../../support/engines/virtuoso.ts";
import { startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { truthOf } from "../../support/void-truth.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

/** The vocabularies that are installed as npm packages (that of SHACL with its validator): what people wrote. */
const folder = new URL("../../../node_modules/@vocabulary/", import.meta.url).pathname;
const files = globSync("*/*.nq", { cwd: folder }).toSorted();
const quad = /^(\S+) (\S+) (.+) <[^ ]+> \.$/u;
const triples: readonly Triple[] = files.flatMap((file, at) =>
  readFileSync(folder + file, "utf8")
    .split("\n")
    .flatMap((line): Triple[] => {
      const [, subject, predicate, object] = quad.exec(line) ?? [];
      if (subject === undefined || predicate === undefined || object === undefined) return [];
      return [[labelled(subject, at), predicate, labelled(object, at)]];
    }),
);
const truth = truthOf(triples);

it("there are vocabularies among the installed packages", () => expect(truth.triples).toBeGreaterThan(1_000));

/** Blank nodes of different files are different. */
function labelled(term: string, file: number): string {
  return term.startsWith("_:") ? `_:f${file}${term.slice(2)}` : term;
}

/** Where the triples lie. Those with blank nodes lie in one graph only: labels have no meaning beyond a file. */
const layouts = { default: [""], apart: ["urn:g:1", "urn:g:2"], overlapping: ["urn:g:1", "urn:g:2"] } as const;
type Layout = keyof typeof layouts;

function graphsOf(layout: Layout, triple: Triple, at: number): readonly string[] {
  const graphs = layouts[layout];
  const [first = ""] = graphs;
  if (triple.some((term) => term.startsWith("_:"))) return [first];
  return layout === "overlapping" && at % 3 === 0 ? graphs : [graphs[at % graphs.length] ?? first];
}

function quadsOf(layout: Layout): string {
  const lines = triples.flatMap((triple, at) =>
    graphsOf(layout, triple, at).map((graph) => `${triple.join(" ")} ${graph === "" ? "" : `<${graph}> `}.\n`),
  );
  return [...new Set(lines)].join("");
}

function loadsOf(layout: Layout): Readonly<Record<string, string>> {
  const loads: Record<string, string> = {};
  for (const [at, triple] of triples.entries())
    for (const graph of graphsOf(layout, triple, at)) {
      const name = graph === "" ? "urn:g:0" : graph;
      loads[name] = `${loads[name] ?? ""}${triple.join(" ")} .\n`;
    }
  return loads;
}

interface Started {
  readonly url: string;
  stop(): Promise<void>;
}

const cases = (["oxigraph", "fuseki", "virtuoso"] as const).flatMap((name) =>
  (["default", "apart", "overlapping"] as const).map((layout) => [name, layout] as const),
);

async function start(name: (typeof cases)[number][0], layout: Layout): Promise<Started> {
  if (name === "fuseki") return startFuseki({ data: quadsOf(layout) });
  if (name === "virtuoso") return startVirtuoso({ graphs: loadsOf(layout) });
  const server = await startSparqlTestServer(quadsOf(layout));
  return { url: server.url, stop: () => server.close() };
}

const faults = [undefined, "refused", "count-refused", "ignored", "estimated", "data-estimated"] as const;

describe.each(cases)("vocabularies on %s, in graphs: %s", (name, layout) => {
  let engine: Started;

  beforeAll(async () => {
    engine = await start(name, layout);
  });

  afterAll(async () => engine?.stop());

  async function described(fault: DistinctFault | undefined): Promise<VoidDescription> {
    const describer = createEndpointDescriber(undefined, fault);
    try {
      return await describer.describe(engine.url);
    } finally {
      await describer.close();
    }
  }

  it.each(layout === "overlapping" ? faults : faults.slice(0, 1))(
    "are described truly; what it makes of DISTINCT: %s",
    async (fault) => {
      const description = await described(fault);
      const comparison = compareWithTruth(description, truth);
      const { wrongExact, wrongBounds, wrongComplete, invented, statements, recall } = comparison;
      const all = Object.values(statements).reduce((sum, one) => sum + one, 0);
      process.stdout.write(
        `${name}, ${layout}, DISTINCT ${fault ?? "right"}: ${description.cost.requests} requests, ` +
          `${statements.exact} of ${all} exact, recall ${recall.toFixed(3)}\n`,
      );
      expect({ wrongExact, wrongBounds, wrongComplete, invented }).toEqual({
        wrongExact: [],
        wrongBounds: [],
        wrongComplete: [],
        invented: [],
      });
      expect(recall).toBe(1);
      expect(description.triples).toMatchObject({ value: truth.triples, status: "exact" });
      expect(description.namedGraphs !== undefined).toBe(name !== "virtuoso" && layout !== "default");
      if (fault === undefined) expect(comparison.exactShare).toBe(1);
    },
    120_000,
  );
});
