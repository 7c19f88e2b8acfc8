import { afterAll, expect, it } from "vitest";
import { steadyClock } from "../../src/clock.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { type Contradiction, Existence } from "../../src/selection/existence.ts";
import { type EmbeddedEngine, startEmbedded } from "../support/engines/embedded.ts";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { sparqlAsker } from "../support/sparql-asker.ts";
import { numbers, prefixes, virtuosoGraph } from "./data.ts";

const data = numbers(50);
const triples = data.trim().split("\n").length;
const embedded: readonly EmbeddedEngine[] = ["blazegraph", "rdf4j", "corese", "pyoxigraph", "rdflib"];
const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], retry: { limit: 0 } });
afterAll(() => client.close());

const start = (name: string): Promise<Engine> => {
  if (name === "virtuoso") return startVirtuoso({ graphs: { [virtuosoGraph]: data } });
  const one = embedded.find((each) => each === name);
  return one === undefined ? startFuseki({ data }) : startEmbedded(one, data);
};

const iri = (name: string): string => `<${/<([^>]+)>/u.exec(prefixes)?.[1]}${name}>`;
const has = { key: "has", text: `?s ${iri("n")} ?o` };
const lacks = { key: "lacks", text: `?s ${iri("nobodyHas")} ?o` };

it.each(["virtuoso", "fuseki", ...embedded])(
  "%s counts its triples and tells of patterns in one request",
  { timeout: 120_000 },
  async (name) => {
    const engine = await start(name);
    try {
      // Virtuoso's default graph has its own triples, too.
      const url =
        name === "virtuoso" ? `${engine.url}?default-graph-uri=${encodeURIComponent(virtuosoGraph)}` : engine.url;
      const endpoint = { id: name, url };
      const asker = sparqlAsker({ client });
      const signal = new AbortController().signal;
      const contradictions: Contradiction[] = [];
      const ask = async (known: number, patterns: readonly (typeof has)[]) => {
        let requests = 0;
        const existence = new Existence({ asker, clock: steadyClock, lacksSubqueries: () => false, keepMs: 60_000 });
        const facts = { url, seenAt: 1, until: Number.POSITIVE_INFINITY, triples: known };
        await existence.ask([{ endpoint, patterns, facts }], {
          signal,
          timeoutMs: 30_000,
          onAnswer: (_, answer) => (requests += answer.requests),
          onContradiction: (contradiction) => contradictions.push(contradiction),
        });
        return { requests, verified: existence.verified({ endpoint, patterns, facts }, { ...lacks, key: "unasked" }) };
      };
      expect(await ask(triples, [lacks])).toMatchObject({ requests: 1, verified: { of: { seenAt: 1, triples } } });
      expect(await ask(triples, [])).toMatchObject({ requests: 1, verified: { of: { seenAt: 1, triples } } });
      expect(contradictions).toEqual([]);
      await ask(triples, [lacks, has]);
      expect(await ask(triples - 1, [lacks])).toMatchObject({ verified: undefined });
      expect(contradictions.map(({ patterns }) => patterns)).toEqual([["has"], []]);
    } finally {
      await engine.stop();
    }
  },
);
