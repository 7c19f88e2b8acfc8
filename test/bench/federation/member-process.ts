import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { listening } from "../../support/listening.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import type { Traffic } from "./members.ts";
import { isExistenceQuery } from "../../support/existence-query.ts";

// The members of a federation as a process of its own: an Oxigraph store and a port each. Its argument is a JSON file of
// N-Triples by member. Prints the URLs by member, and under "control" where requests are counted and latency is set.

const [file = ""] = process.argv.slice(2);
const servers = new Map<string, SparqlTestServer>();
for (const [name, data] of Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, string>)) {
  servers.set(name, await startSparqlTestServer(data));
}

/** Without its keys, so that blocks of one pattern are counted together. */
const shortened = (query: string): string =>
  query
    .replaceAll(/(VALUES\s*(?:\?\w+|\([^)]*\)))\s*\{[^}]*\}/giu, "$1 { ... }")
    .replaceAll(/PREFIX\s+\S+\s+<[^>]*>/giu, "")
    .replaceAll(/\s+/gu, " ")
    .slice(0, 300);

/** What was asked since it was last told. */
function takeTraffic(): Traffic {
  const traffic = {
    requests: 0,
    verifications: 0,
    sentBytes: 0,
    answerBytes: 0,
    refused: 0,
    byMember: {} as Record<string, number>,
    byText: {} as Record<string, number>,
  };
  for (const [name, server] of servers) {
    const asked = server.requests.filter(({ query = "" }) => !isExistenceQuery(query));
    traffic.verifications += server.requests.length - asked.length;
    if (asked.length > 0) traffic.byMember[name] = asked.length;
    for (const { query = "", answerBytes, status } of asked) {
      traffic.requests += 1;
      const text = shortened(query);
      traffic.byText[text] = (traffic.byText[text] ?? 0) + 1;
      traffic.sentBytes += Buffer.byteLength(query);
      traffic.answerBytes += answerBytes;
      if (status !== undefined && status >= 400) traffic.refused += 1;
    }
    server.clearRequests();
  }
  return traffic;
}

const control = createServer((request, response) => {
  const [, what, value] = (request.url ?? "").split("/");
  if (what === "latency") for (const server of servers.values()) server.setDelay(Number(value));
  response.end(JSON.stringify(what === "traffic" ? takeTraffic() : {}));
});
const { origin } = await listening(control);
const urls = Object.fromEntries([...servers].map(([name, { url }]) => [name, url]));
process.stdout.write(`${JSON.stringify({ control: origin, urls })}\n`);
