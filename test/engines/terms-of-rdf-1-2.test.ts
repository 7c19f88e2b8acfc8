import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startEmbedded } from "../support/engines/embedded.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { listening } from "../support/listening.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

/** Terms of RDF 1.2; the readers of both engines take no language tag of more than eight letters. */
const strings = ['"a"@en', '"a"@en--ltr', '"a"@en--rtl', '"a"@gsw'];
const triples = ['<<( <urn:a> <urn:b> "o"@en--ltr )>>', '<<( <urn:a> <urn:b> <<( <urn:c> <urn:d> "o"@ar--rtl )>> )>>'];
const all = [...strings, ...triples];
const data = `${strings.map((term) => `<urn:s> <urn:text> ${term} .`).join("\n")}
${triples.map((term) => `<urn:s> <urn:claim> ${term} .`).join("\n")}
`;

/** Formats of rows; members of Jena 5.6 have these names, those of Jena 6 the same with a 6. */
const formats = {
  json: "application/sparql-results+json",
  xml: "application/sparql-results+xml",
  tsv: "text/tab-separated-values",
  csv: "text/csv",
} as const;

/** Passes queries on to an engine, and asks for one format whatever is accepted. */
async function startRelay(engine: Engine, accept: string) {
  return await listening(
    createServer((request, response) => {
      const pass = async (): Promise<void> => {
        const { search } = new URL(request.url ?? "/", engine.url);
        const type = request.headers["content-type"];
        const answer = await fetch(`${engine.url}${search}`, {
          method: request.method ?? "GET",
          headers: { accept, ...(type !== undefined && { "content-type": type }) },
          ...(request.method === "POST" && { body: await text(request) }),
        });
        const own = answer.headers.get("content-type") ?? "";
        response.writeHead(answer.status, { "content-type": own }).end(Buffer.from(await answer.arrayBuffer()));
      };
      pass().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
    }),
  );
}

const engines: Engine[] = [];
const relays: Awaited<ReturnType<typeof startRelay>>[] = [];
let fedway: Fedway;

beforeAll(async () => {
  const [fuseki, fuseki6, pyoxigraph] = await Promise.all([
    startFuseki({ data }),
    startFuseki({ data, newest: true }),
    startEmbedded("pyoxigraph", data),
  ]);
  engines.push(fuseki, fuseki6, pyoxigraph);
  const urls: Record<string, string> = { fuseki: fuseki.url, fuseki6: fuseki6.url, pyoxigraph: pyoxigraph.url };
  for (const [name, accept] of Object.entries(formats)) {
    for (const [engine, suffix] of [
      [fuseki, ""],
      [fuseki6, "6"],
    ] as const) {
      const relay = await startRelay(engine, accept);
      relays.push(relay);
      urls[`${name}${suffix}`] = `${relay.origin}/ds/sparql`;
    }
  }
  fedway = await startFedway(urls);
});

afterAll(async () => {
  await fedway?.close();
  for (const relay of relays) await relay.close();
  for (const engine of engines) await engine.stop();
});

/** The rows of a query that Fedway evaluates, as TSV; a problem is thrown. */
async function rows(query: string, accept: string = formats.tsv): Promise<readonly string[]> {
  const response = await fedway.sparql("/sparql", { query, accept });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(answer);
  return answer.split(/\r?\n/u).slice(1, -1).toSorted();
}

const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted();
const anything = (member: string, name: string): string =>
  `SERVICE <${member}> { ?s ?p${name} ?${name} FILTER(?p${name} IN (<urn:text>, <urn:claim>)) }`;

const members = ["json", "xml", "tsv", "json6", "xml6", "tsv6", "pyoxigraph"];

describe.each(members)("terms of RDF 1.2 of %s", (member) => {
  it("are held and equal to themselves only", async () => {
    expect(await rows(`SELECT ?o { ${anything(member, "o")} }`)).toEqual(sorted(all));
    for (const condition of ["?o = ?w", "?o IN (?w)", "sameTerm(?o, ?w)"]) {
      const both = `${anything(member, "o")} ${anything("json", "w")}`;
      expect([condition, await rows(`SELECT ?o { ${both} FILTER(${condition}) }`)]).toEqual([condition, sorted(all)]);
      expect(await rows(`SELECT ?o { ${both} FILTER(!(${condition})) }`)).toHaveLength(all.length * (all.length - 1));
    }
  });

  it.each(members)("join those of %s", async (other) => {
    const both = `${anything(member, "o")} ${anything(other, "o").replaceAll("?po", "?p2")}`;
    expect(await rows(`SELECT ?o { ${both} }`)).toEqual(sorted(all));
    const minus = `${anything(member, "o")} MINUS { ${anything(other, "o").replaceAll("?po", "?p2")} FILTER(isLiteral(?o)) }`;
    expect(await rows(`SELECT ?o { ${minus} }`)).toEqual(sorted(triples));
  });

  it("are as many in DISTINCT, GROUP BY and ORDER BY, and keep their direction in functions", async () => {
    const other = member === "pyoxigraph" ? "json" : "pyoxigraph";
    const both = `${anything(member, "o")} ${anything(other, "w")}`;
    expect(await rows(`SELECT DISTINCT ?o { ${both} }`)).toEqual(sorted(all));
    const counts = await rows(`SELECT ?o (STR(COUNT(*)) AS ?n) { ${both} } GROUP BY ?o`);
    expect(counts).toEqual(sorted(all.map((term) => `${term}\t"${all.length}"`)));
    // Two members, so that Fedway evaluates it: Jena 5.6 has no value for functions of directional strings.
    const here = `${both} FILTER(?w = "a"@en)`;
    expect(await rows(`SELECT (SUBSTR(UCASE(CONCAT(?o, ?o)), 2) AS ?v) { ${here} FILTER(isLiteral(?o)) }`)).toEqual(
      sorted(strings.map((term) => term.replace('"a"', '"A"'))),
    );
    const directed = `SELECT (STRLANGDIR(STR(?o), "ar", LANGDIR(?o)) AS ?v) { ${here} FILTER(hasLANGDIR(?o)) }`;
    expect(await rows(directed)).toEqual(['"a"@ar--ltr', '"a"@ar--rtl']);
  });
});

it.each(["csv", "csv6"])(
  "terms of RDF 1.2 in %s, which has neither language nor direction, are not joined",
  async (member) => {
    const texts = (name: string): string => `SERVICE <${name}> { ?s${name} <urn:text> ?o }`;
    await expect(rows(`SELECT ?o { ${texts(member)} ${texts("json")} }`)).rejects.toThrow(/csv/iu);
  },
);

describe("triples go out", () => {
  const construct = "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } ORDER BY DESC(isLiteral(?o)) ?o";
  const written = async (accept: string, query = construct, member = "pyoxigraph") => {
    const response = await fedway.sparql(`/endpoints/${member}/sparql`, { query, accept });
    return [response.status, await response.text()] as const;
  };

  it.each(["fuseki", "fuseki6", "pyoxigraph"])("from %s as N-Triples, whole", async (member) => {
    // Jena 5.6 fails to sort directional strings.
    const [status, answer] = await written("application/n-triples", construct.replace(/ORDER BY.*/u, ""), member);
    const lines = answer.trimEnd().split("\n");
    const objects = lines.map((line) => / ((?:"|<<\().*) \.$/u.exec(line)?.[1] ?? line);
    expect([status, objects.toSorted()]).toEqual([200, sorted(all)]);
  });

  it.each(["application/rdf+xml", "application/ld+json"])(
    "as %s not at all where it cannot hold one of them",
    async (accept) => {
      expect(await written(accept)).toEqual([406, expect.stringMatching(/triple term|base direction/u)]);
    },
  );

  it("as JSON-LD with their direction", async () => {
    const query = "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o FILTER(isLiteral(?o)) }";
    const [status, answer] = await written("application/ld+json", query);
    expect([status, answer.match(/"@direction":"(?:ltr|rtl)"/gu)?.length]).toEqual([200, 2]);
  });
});
