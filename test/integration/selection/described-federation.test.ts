import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import { eventually } from "../../support/eventually.ts";
import { openService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { isExistenceQuery } from "../../support/existence-query.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const v = (name: string): string => `<http://v.example/${name}>`;

/** Six vendors with offers of products that all of them name, and six sites with ratings of the same products. */
const vendor = (number: number): string =>
  Array.from({ length: 5 }, (_, n) => {
    const offer = `<http://vendor${number}.example/offer/${n}>`;
    return `${offer} ${type} ${v("Offer")} .\n${offer} ${v("product")} <http://products.example/${n}> .\n${offer} ${v("price")} "${number * 10 + n}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n`;
  }).join("");
/** More reviews in all than are asked for whole, without keys. */
const site = (number: number): string =>
  Array.from({ length: 12 }, (_, n) => {
    const review = `<http://site${number}.example/review/${n}>`;
    return `${review} ${type} ${v("Review")} .\n${review} ${v("about")} <http://products.example/${n}> .\n${review} ${v("stars")} "${n}" .\n`;
  }).join("");

/** Of a product whose IRI begins like those of all others. */
const product = "<http://products.example/rare>";
const review = "<http://site3.example/review/rare>";
const odd = "<http://site4.example/review/odd>";
const person = "<http://site3.example/person/1>";
const rare: Readonly<Record<string, string>> = {
  vendor5: `<http://vendor5.example/offer/rare> ${v("product")} ${product} .`,
  site4: `${odd} ${v("about")} <http://products.example/3> .\n${odd} ${v("stars")} "7" .`,
  site3: `${review} ${v("about")} ${product} .\n${review} ${v("stars")} "9" .\n${review} ${v("by")} ${person} .\n${person} ${v("name")} "Ann" .`,
};

const ids = Array.from({ length: 12 }, (_, n) => (n < 6 ? `vendor${n}` : `site${n - 6}`));
const prefix = "PREFIX v: <http://v.example/>";
const servers = new Map<string, SparqlTestServer>();
let app: App;
let url: string;

beforeAll(async () => {
  for (const [n, id] of ids.entries()) {
    servers.set(id, await startSparqlTestServer((n < 6 ? vendor(n) : site(n - 6)) + (rare[id] ?? "")));
  }
  ({ app, url } = await openShop());
  for (const id of ids) await fetch(`${url}/api/endpoints/${id}/describe`, { method: "POST" });
  // Their descriptions know how the IRIs of each begin, and only what was read, in the background, knows which there are.
  await eventually(async () => {
    for (const id of ids) {
      const kind = `http://${id}.example/${id.startsWith("site") ? "review" : "offer"}`;
      expect(await explained(`ASK { <${kind}/1> ?p ?o }`)).toContain(`endpoint ${id}`);
      expect(await explained(`ASK { <${kind}/none> ?p ?o }`)).not.toContain(`endpoint ${id}`);
    }
  });
});

async function openShop(): Promise<{ readonly app: App; readonly url: string }> {
  const shop = `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a fedway:Federation ; dcterms:identifier "shop" ; dcterms:title "Shop" ;
      fedway:member ${ids.map((id) => `"${id}"`).join(", ")} .`;
  const urls = Object.fromEntries([...servers].map(([id, server]) => [id, server.url]));
  const opened = await openService(urls, {}, { "shop.ttl": shop });
  return { app: opened, url: await opened.listen() };
}

afterAll(async () => {
  await app.close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

async function explained(query: string, options: object = {}): Promise<string> {
  const response = await fetch(`${url}/api/explain`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, federation: "shop", ...options }),
  });
  const { text } = (await response.json()) as { text: string };
  return text;
}

/** A small query that only asks whether there are matches. */
const isExistence = ({ query }: { readonly query: string | undefined }): boolean =>
  query !== undefined && isExistenceQuery(query);

/** Rows of an answer as sorted text, which members were asked how often, and how many were asked whether they have matches. */
async function asked(query: string, prune: boolean | "trust" = true, path = "/federations/shop/sparql") {
  for (const server of servers.values()) server.clearRequests();
  const response = await fetch(path.startsWith("http") ? path : `${url}${path}`, {
    method: "POST",
    headers: { accept: "text/csv" },
    body: new URLSearchParams({ query, prune: String(prune) }),
  });
  const [, ...rows] = (await response.text()).trim().split("\r\n");
  const all = [...servers].map(
    ([id, { requests }]) => [id, requests.filter((one) => !isExistence(one)).length] as const,
  );
  const verified = [...servers.values()].flatMap(({ requests }) => requests.filter(isExistence)).length;
  const requests = Object.fromEntries(all.filter(([, count]) => count > 0));
  const [facts, run] = ["Fedway-Facts", "Fedway-Run"].map((name) => response.headers.get(name));
  return { rows: rows.toSorted(), requests, verified, facts, run };
}

describe("twelve members of which nothing is known", () => {
  it("are asked once for all patterns of a query, and then only for what they have", async () => {
    const query = `${prefix} SELECT ?c ?r { <http://vendor5.example/offer/3> v:product ?p ; v:price ?c . ?r v:about ?p }`;
    const undescribed = await openShop();
    const ask = (prune: boolean) => asked(query, prune, `${undescribed.url}/federations/shop/sparql`);
    try {
      const [first, again, all] = [await ask(true), await ask(true), await ask(false)];
      expect(first.rows).toHaveLength(7);
      expect([again.rows, all.rows]).toEqual([first.rows, first.rows]);
      expect([first.verified, again.verified, all.verified]).toEqual([12, 0, 0]);
      expect(Object.keys(again.requests)).toEqual(["vendor5", ...ids.slice(6)]);
      expect(again.requests).toEqual(first.requests);
    } finally {
      await undescribed.app.close();
    }
  });
});

describe("twelve small members that were described and read", () => {
  const shouldAsk = (query: string, members: readonly string[]): void => {
    it(query, async () => {
      const [pruned, all] = [await asked(`${prefix} ${query}`), await asked(`${prefix} ${query}`, false)];
      expect(pruned.rows).toEqual(all.rows);
      expect(pruned.rows.length).toBeGreaterThan(0);
      expect(Object.keys(pruned.requests)).toEqual(members);
      expect(Object.keys(all.requests)).toEqual(ids);
    });
  };
  shouldAsk("SELECT ?o { ?o v:price ?p FILTER(?p > 52) }", ids.slice(0, 6));
  shouldAsk("SELECT (COUNT(*) AS ?c) { ?r a v:Review }", ids.slice(6));
  shouldAsk("SELECT ?x { ?x v:product|v:about <http://products.example/3> }", ids);
  shouldAsk("SELECT ?p ?o { <http://site4.example/review/2> ?p ?o }", ["site4"]);
  shouldAsk("SELECT ?price { <http://vendor5.example/offer/4> v:price ?price OPTIONAL { ?x v:nobodyHas ?y } }", [
    "vendor5",
  ]);

  shouldAsk("SELECT ?s { <http://vendor5.example/offer/rare> v:product ?p . ?r v:about ?p ; v:stars ?s }", [
    "vendor5",
    "site3",
  ]);
  shouldAsk("SELECT ?p ?o { <http://site3.example/review/rare> v:by ?who . ?who ?p ?o }", ["site3"]);

  // Each of six sites has such reviews, and such stars.
  shouldAsk('SELECT ?r { ?r v:about <http://products.example/3> ; v:stars "7" }', ["site4"]);
  shouldAsk("SELECT ?n { ?r v:about ?p ; v:by ?who . ?who v:name ?n }", ["site3"]);

  const shouldTake = (query: string, expected: Readonly<Record<string, number>>): void => {
    it(`takes ${JSON.stringify(expected)} requests: ${query}`, async () => {
      expect((await asked(`${prefix} ${query}`)).requests).toEqual(expected);
    });
  };
  shouldTake("SELECT ?p ?o { <http://site4.example/review/2> ?p ?o }", { site4: 1 });
  shouldTake('SELECT ?r { ?r v:about <http://products.example/3> ; v:stars "7" }', { site4: 1 });
  shouldTake("SELECT ?s { <http://vendor5.example/offer/rare> v:product ?p . ?r v:about ?p ; v:stars ?s }", {
    vendor5: 1,
    site3: 1,
  });

  it("what copies keep from members is verified after the answer, once an interval, and named in its record", async () => {
    const query = `${prefix} SELECT ?n { ?r v:about <http://products.example/3> ; v:stars "7" ; v:stars ?n }`;
    const others = ids.slice(6).filter((id) => id !== "site4");
    const first = await asked(query);
    expect(first).toMatchObject({ rows: ["7"], requests: { site4: 1 } });
    await eventually(async () => {
      const { run, requests } = await asked(query);
      const record = await (await fetch(`${url}/api/runs/${run}`)).json();
      expect(record).toMatchObject({ facts: { verifiedAt: expect.any(String), withheld: others } });
      expect(requests).toEqual({ site4: 1 });
    });
    expect(await asked(query)).toMatchObject({ rows: first.rows, verified: 0 });
  });

  it("members that have had as many triples as described are left out unasked, whatever the query", async () => {
    const about = (at: number): string =>
      `${prefix} SELECT ?s { <http://site5.example/review/${at}> v:stars ?s ; v:about ?p }`;
    await eventually(async () => expect((await asked(about(2))).facts).toMatch(/, last verified \d{4}-/u));
    const other = await asked(about(3));
    expect(other).toMatchObject({ requests: { site5: 1 }, verified: 0 });
    expect(other.rows).toHaveLength(1);
    expect(other.facts).toMatch(
      /^sources chosen by facts of \d{4}-\S+, \d+ s old, last verified \d{4}-\S+; facts of 12 of 12 members$/u,
    );
    expect((await asked(about(2), "trust")).facts).toMatch(/^sources chosen by facts of \S+, \d+ s old, /u);
  });

  it("what is expected of them stands beside what they gave", async () => {
    const analyze = true;
    expect(await explained(`${prefix} SELECT * { ?o v:price ?p }`, { analyze })).toMatch(
      /\(vendor0, .*\).* 30 +30 +6 +none /u,
    );
    const clause = (id: string, pattern: string): string => `SERVICE <${servers.get(id)?.url}> { ${pattern} }`;
    const both = `${clause("vendor1", "?o v:product ?p")} ${clause("site1", "?r v:about ?p")}`;
    const text = await explained(`${prefix} SELECT * { ${both} }`, { analyze });
    expect(text).toMatch(/\(vendor1\).* 5 +5 +1 /u);
    expect(text).toMatch(/\(site1\).* 12 +12 +1 +none /u);
  });

  it("a count of 0 is verified when it is analysed, too", async () => {
    const query = `${prefix} SELECT (COUNT(*) AS ?c) { ?r v:about <http://products.example/0> ; v:stars "5" }`;
    await explained(query, { analyze: true });
    // Nobody is asked for the rows; of six the plan says that they have none, of the others their copies do.
    expect(await explained(query, { analyze: true })).toMatch(
      /run ok\n(?:.*\n)*? {4}rows 1\n(?:.*\n)*? {4}requests 12\n/u,
    );
  });

  it("nobody is asked for what nobody has", async () => {
    const query = `${prefix} SELECT (COUNT(*) AS ?c) { ?x v:nobodyHas ?y }`;
    expect(await asked(query)).toMatchObject({ rows: ["0"], requests: {}, verified: 12 });
    // Whether they have a number is not known.
    const { rows, requests, verified } = await asked(`${prefix} SELECT * { ?x v:price "none" }`);
    expect([rows, Object.keys(requests), verified]).toEqual([[], ids.slice(0, 6), 6]);
    expect(await explained(query)).toContain("MEMBERS_LEFT_OUT");
    expect(await explained(query)).toContain("no member has a match");
  });

  it("a UNION over everybody becomes one over those who have it", async () => {
    const branch = (id: string): string =>
      `{ SERVICE <${servers.get(id)?.url}> { <http://site4.example/review/2> v:stars ?n } }`;
    const query = `${prefix} SELECT ?n { ${ids.map(branch).join(" UNION ")} }`;
    const [pruned, all] = [await asked(query, true, "/sparql"), await asked(query, false, "/sparql")];
    // Questions before have had them count their triples.
    expect(pruned).toMatchObject({ rows: ["2"], requests: { site4: 1 }, verified: 0 });
    expect(all).toMatchObject({ rows: ["2"], requests: Object.fromEntries(ids.map((id) => [id, 1])) });
  });
});

it("members that come to a service that had none are selected, too", async () => {
  const late = await openService({});
  try {
    const origin = await late.listen();
    const post = async (path: string, body?: object): Promise<void> => {
      const sent = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const response = await fetch(`${origin}${path}`, { method: "POST", ...sent });
      expect(response.status).toBeLessThan(300);
    };
    const two = ["vendor0", "site0"];
    for (const id of two) {
      await post("/api/endpoints", { id, title: id, url: servers.get(id)?.url });
      await post(`/api/endpoints/${id}/describe`);
    }
    await post("/api/federations", { id: "two", title: "Two", members: two });
    await eventually(async () => {
      servers.get("site0")?.clearRequests();
      const query = `${prefix} SELECT * { ?offer v:price ?price }`;
      const response = await fetch(`${origin}/federations/two/sparql`, {
        method: "POST",
        body: new URLSearchParams({ query }),
      });
      expect(response.status).toBe(200);
      await response.text();
      expect(servers.get("site0")?.requests.filter((one) => !isExistence(one))).toHaveLength(0);
    });
  } finally {
    await late.close();
  }
});
