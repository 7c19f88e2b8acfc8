import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answerDifference } from "../support/canonical-answer.ts";
import { federationTurtle } from "../support/catalog-folder.ts";
import { startFederation, type Federation } from "../support/federation-harness.ts";
import {
  type LimitedEndpoint,
  type LimitedReply,
  type LimitedRequest,
  refuse,
  startLimitedEndpoint,
} from "../support/limited-endpoint.ts";
import { mergedAnswer } from "../support/merged-federation.ts";

// Members that take queries in URLs only, and short ones: 2,000 join keys have to go in many requests.

const person = (n: number): string => `<http://example.org/people/${n}>`;
const names = Array.from({ length: 2_000 }, (_, n) => `${person(2 * n)} <x:name> "${n}" .`).join("\n");
const ages = Array.from({ length: 3_000 }, (_, n) => `${person(n)} <x:age> "${n % 90}" .`).join("\n");

/** Replies of each member to a query that comes by POST, and to a URL that is longer than so many bytes. */
const members: Readonly<Record<string, { bytes: number; post?: LimitedReply; long?: LimitedReply }>> = {
  "8 KiB": { bytes: 8_192 },
  "8 KiB behind a redirect": { bytes: 8_192, post: { ...refuse("Found", 302), headers: { location: "/sparql" } } },
  "2 KiB": { bytes: 2_048 },
  "2 KiB and calls longer ones malformed": { bytes: 2_048, long: refuse("Bad request") },
};
const queries: readonly (readonly [name: string, query: string])[] = [
  ["a join", "SELECT * { SERVICE <names> { ?s <x:name> ?n } SERVICE <ages> { ?s <x:age> ?v } }"],
  ["OPTIONAL", "SELECT * { SERVICE <names> { ?s <x:name> ?n } OPTIONAL { SERVICE <ages> { ?s <x:age> ?v } } }"],
  ["MINUS", "SELECT * { SERVICE <names> { ?s <x:name> ?n } MINUS { SERVICE <ages> { ?s <x:age> ?v } } }"],
  [
    "NOT EXISTS",
    "SELECT * { SERVICE <names> { ?s <x:name> ?n } FILTER NOT EXISTS { SERVICE <ages> { ?s <x:age> ?v } } }",
  ],
  ["a join over the federation", "SELECT * { ?s <x:name> ?n . ?s <x:age> ?v }"],
  ["OPTIONAL over the federation", "SELECT * { ?s <x:name> ?n OPTIONAL { ?s <x:age> ?v } }"],
  ["MINUS over the federation", "SELECT * { ?s <x:name> ?n MINUS { ?s <x:age> ?v } }"],
  ["COUNT over the federation", "SELECT (COUNT(*) AS ?c) { ?s <x:name> ?n . ?s <x:age> ?v }"],
];

const endpoints = new Map<string, LimitedEndpoint>();
let federation: Federation;
beforeAll(async () => {
  const files: Record<string, string> = {};
  endpoints.set("names", await startLimitedEndpoint({ data: names }));
  for (const [index, { bytes, post = refuse("No", 405), long = refuse("Too long", 414) }] of Object.values(
    members,
  ).entries()) {
    const instead = ({ method, urlBytes }: LimitedRequest) => {
      if (method !== "get") return post;
      return urlBytes > bytes ? long : undefined;
    };
    endpoints.set(`ages${index}`, await startLimitedEndpoint({ data: ages, instead }));
    files[`all${index}.ttl`] = federationTurtle(`all${index}`, `fedway:member "names", "ages${index}"`);
  }
  const urls = Object.fromEntries([...endpoints].map(([name, { url }]) => [name, url]));
  federation = await startFederation(urls, {}, files);
});
afterAll(async () => {
  await federation.close();
  await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
});

const urlOf = (name: string): string => endpoints.get(name)?.url ?? "";

describe.each([...Object.keys(members).entries()])("member %i, which takes URLs of %s", (index) => {
  it.each(queries)("answers %s whole", async (_, query) => {
    const requests = endpoints.get(`ages${index}`)?.requests ?? [];
    requests.length = 0;
    const expected = mergedAnswer([names, ages], query.replaceAll(/SERVICE <\w+>/gu, ""));
    const text = query.replaceAll("<names>", `<${urlOf("names")}>`).replaceAll("<ages>", `<${urlOf(`ages${index}`)}>`);
    const answer = await federation.answer(text, {
      timeoutMs: 240_000,
      ...(!query.includes("SERVICE") && { federationId: `all${index}` }),
    });
    expect(answerDifference(expected, answer)).toBeUndefined();
    expect(Math.max(...requests.map(({ urlBytes }) => urlBytes))).toBeLessThanOrEqual(8_192);
    // About 25 keys fit into 2 KiB: half as many in each request, and what is refused before that is learned.
    expect(requests.length).toBeLessThan(250);
  });
});
