import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckedQuery } from "../../../src/diagnosis/check/query-check.ts";
import { doorQueries } from "../../support/door-queries.ts";
import { listening } from "../../support/listening.ts";
import { openService } from "../../support/running-service.ts";

// Whoever says whether a query may be run, and whoever runs it, must not disagree, whatever the query and its route.

/** Takes every text for a SELECT without solutions, so that whatever is refused was refused before it. */
const upstream = createServer((request, response) => {
  void readText(request).then(() =>
    response
      .writeHead(200, { "content-type": "application/sparql-results+json" })
      .end('{"head":{"vars":[]},"results":{"bindings":[]}}'),
  );
});
const entry = (id: string, url: string, raw: boolean): string =>
  `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
@prefix fedway: <https://w3id.org/fedway/ns#> .
[] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; dcat:endpointURL <${url}> ; fedway:rawQueries ${raw} .`;

let upstreamAt: Awaited<ReturnType<typeof listening>>;
let app: Awaited<ReturnType<typeof openService>>;
let url: string;
beforeAll(async () => {
  upstreamAt = await listening(upstream);
  const federation = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
[] a fedway:Federation ; dcterms:identifier "both" ; dcterms:title "both" ; fedway:member "plain", "raw" .`;
  app = await openService(
    {},
    {},
    {
      "plain.ttl": entry("plain", `${upstreamAt.origin}/plain`, false),
      "raw.ttl": entry("raw", `${upstreamAt.origin}/raw`, true),
      "both.ttl": federation,
    },
  );
  url = await app.listen();
});
afterAll(async () => {
  await app?.close();
  await upstreamAt?.close();
});

/** The code with which a route refuses a text; undefined where it was run, whatever came of that. */
async function refusal(path: string, query: string): Promise<string | undefined> {
  const response = await fetch(`${url}${path}`, { method: "POST", body: new URLSearchParams({ query }) });
  const body = await response.text();
  if (response.ok) return undefined;
  const { code } = JSON.parse(body) as { code: string };
  return code.startsWith("ENDPOINT_") ? undefined : code;
}

type Checked = CheckedQuery & { readonly diagnosis: { readonly code: string } | null };

async function checked(query: string, endpoint: string | undefined): Promise<Checked> {
  const response = await fetch(`${url}/api/tools/check_query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, endpoint }),
  });
  const body = await response.text();
  if (!response.ok) throw new Error(`${body} for ${query}`);
  return (JSON.parse(body) as { data: Checked }).data;
}

/**
 * How the two doors disagree over a text; undefined where they do not. What runs is left as it is; what does not is judged with
 * the repairs that were applied.
 */
async function disagreement(
  path: string,
  query: string,
  endpoint: string | undefined,
): Promise<{ readonly ran: boolean; readonly difference: string | undefined }> {
  const [refused, { valid, repairs, query: repaired, diagnosis }] = await Promise.all([
    refusal(path, query),
    checked(query, endpoint),
  ]);
  const applied = repairs.filter((repair) => repair.applied);
  const isRepaired = applied.length > 0;
  // Both declare prefixes that have one meaning.
  const isFilled = isRepaired && applied.every(({ kind }) => kind === "prefix-missing");
  const refusedThen = isRepaired ? await refusal(path, repaired) : refused;
  const ran = refused === undefined;
  const agrees = valid === (refusedThen === undefined) && diagnosis?.code === refusedThen;
  if (agrees && (isRepaired ? isFilled || !ran : repaired === query)) return { ran, difference: undefined };
  const difference = `run: ${refused}, then ${refusedThen}; check: ${valid} ${diagnosis?.code}; ${repaired}`;
  return { ran, difference };
}

/** The route of raw queries takes all texts, the others share them; `1` sends all to each. */
const shares = Number(process.env["FEDWAY_DOOR_SHARES"] ?? 3);

describe("check_query and the route of a query agree", () => {
  it.each([
    ["/sparql", undefined, 0],
    ["/endpoints/plain/sparql", "plain", 1],
    ["/endpoints/raw/sparql", "raw", undefined],
    ["/federations/both/sparql", "both", 2],
  ])("at %s", async (path, endpoint, share) => {
    const queries = doorQueries.filter((_, index) => share === undefined || index % shares === share % shares);
    const told: string[] = [];
    let runs = 0;
    for (const query of queries) {
      const { difference, ran } = await disagreement(path, query, endpoint);
      if (difference !== undefined) told.push(`${query}\n  ${difference}`);
      if (ran) runs++;
    }
    expect(told).toEqual([]);
    expect(runs).toBeGreaterThan(queries.length / 10);
    expect(queries.length - runs).toBeGreaterThan(queries.length / 5);
  });
  it("over several hundred texts", () => expect(doorQueries.length).toBeGreaterThan(250));
});
