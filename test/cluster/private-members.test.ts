import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Cluster, startCluster, withToken } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { type PrivateEndpoint, startPrivateEndpoint, startTokenServer } from "../support/private-endpoint.ts";
import { newFolder } from "../support/scratch-folder.ts";

// Two web processes and a worker over one Redis: each sends the credentials of its file, and none of them writes them down.

const secrets = [
  "bearer-token-0123456789",
  "client-secret-0123456789",
  "oauth-token-",
  Buffer.from("fedway:client-secret-0123456789").toString("base64"),
];
const folder = newFolder();
const file = join(folder, "credentials.json");
let tokens: Awaited<ReturnType<typeof startTokenServer>>;
let open: PrivateEndpoint;
let byToken: PrivateEndpoint;
let byOauth: PrivateEndpoint;
let cluster: Cluster;
let bearer = secrets[0];

const write = (token: string | undefined): Promise<void> =>
  writeFile(
    file,
    JSON.stringify({
      bearer: { type: "bearer", token },
      oauth: { type: "oauth", tokenUrl: tokens.url, clientId: "fedway", clientSecret: secrets[1] },
    }),
    { mode: 0o600 },
  );

beforeAll(async () => {
  tokens = await startTokenServer("fedway", secrets[1] ?? "");
  open = await startPrivateEndpoint('<urn:s> <urn:open> "open" .', () => true);
  byToken = await startPrivateEndpoint(
    '<urn:s> <urn:bearer> "bearer" .',
    ({ authorization }) => authorization === `Bearer ${bearer}`,
  );
  byOauth = await startPrivateEndpoint('<urn:s> <urn:oauth> "oauth" .', ({ authorization = "" }) =>
    tokens.issued.includes(authorization.slice(7)),
  );
  await write(bearer);
  cluster = await startCluster({
    endpoints: { bearer: byToken.url, oauth: byOauth.url, open: open.url },
    webs: 2,
    workers: 1,
    env: {
      FEDWAY_CREDENTIALS: file,
      FEDWAY_LOG_LEVEL: "trace",
      FEDWAY_LOG_QUERIES: "on",
      FEDWAY_DATA_DIR: newFolder(),
    },
  });
});
afterAll(async () => {
  await cluster.close();
  await Promise.all([tokens, open, byToken, byOauth].map((server) => server.close()));
});

const rowsAt = async (web: { readonly url: string }, query: string): Promise<readonly string[]> => {
  const response = await fetch(`${web.url}/sparql?query=${encodeURIComponent(query)}`);
  const { results } = (await response.json()) as { results?: { bindings: readonly { o: { value: string } }[] } };
  return (results?.bindings ?? []).map(({ o }) => o.value).toSorted();
};

it("private members are queried, described and probed by all processes, which read a changed file", async () => {
  const clauses = [byToken, byOauth, open].map(({ url }) => `{ SERVICE <${url}> { ?s ?p ?o } }`);
  const federated = `SELECT ?o { ${clauses.join(" UNION ")} }`;
  for (const web of cluster.webs) expect(await rowsAt(web, federated)).toEqual(["bearer", "oauth", "open"]);
  const [first, second] = cluster.webs;
  for (const id of ["bearer", "oauth"]) {
    for (const what of ["describe", "capabilities"]) {
      const asked = await fetch(`${first?.url}/api/endpoints/${id}/${what}`, withToken({ method: "POST" }));
      expect(asked.status).toBe(202);
    }
    await eventually(async () => {
      expect(await (await fetch(`${second?.url}/api/endpoints/${id}/availability`)).text()).toContain('"up"');
      expect((await fetch(`${second?.url}/api/endpoints/${id}/void`)).status).toBe(200);
      expect((await fetch(`${second?.url}/api/endpoints/${id}/capabilities`)).status).toBe(200);
    });
  }
  for (const { requests } of [byToken, byOauth])
    expect(requests.filter(({ headers }) => !headers.authorization)).toEqual([]);
  bearer = "bearer-token-0123456789-next";
  await write(bearer);
  for (const web of cluster.webs) await eventually(async () => expect(await rowsAt(web, federated)).toHaveLength(3));
}, 300_000);

it("no log line, job, document of the store or backup has a secret, whatever an endpoint quotes", async () => {
  byToken.requests.length = 0;
  byOauth.requests.length = 0;
  byToken.answerInstead(
    ({ headers }, response) => response.writeHead(500).end(`with ${JSON.stringify(headers)}`) !== undefined,
  );
  // No valid HTTP, so that the error of the HTTP client has what came.
  byOauth.answerInstead(
    ({ headers }, response) =>
      response.socket?.end(`HTTP/1.1 200 OK\r\nbad header ${headers.authorization}\r\n\r\n`) !== undefined,
  );
  for (const web of cluster.webs) {
    for (const id of ["bearer", "oauth"]) {
      const answer = await fetch(
        `${web.url}/endpoints/${id}/sparql?query=${encodeURIComponent("SELECT ?o { ?s ?p ?o }")}`,
      );
      expect(answer.status).toBeGreaterThanOrEqual(502);
      for (const what of ["describe", "capabilities"])
        await fetch(`${web.url}/api/endpoints/${id}/${what}`, withToken({ method: "POST" }));
    }
  }
  // A description waits long between failures; that it was tried is enough.
  await eventually(() => expect(Math.min(byToken.requests.length, byOauth.requests.length)).toBeGreaterThan(3));
  const stored = await everythingStored(cluster.redis.url);
  expect(stored).toContain("describe");
  const logs = [...cluster.webs, ...cluster.workers].map((service) => service.log());
  expect(logs.join("")).toContain("SELECT ?o");
  for (const secret of secrets) for (const text of [stored, ...logs]) expect(text).not.toContain(secret);
}, 300_000);

/** All values of a Redis, as text. */
async function everythingStored(url: string): Promise<string> {
  const redis = new Redis(url);
  const reads: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, "0", "-1"),
    stream: (key) => redis.xrange(key, "-", "+"),
  };
  const found = (await redis.keys("*")).map(async (key) => [key, await reads[await redis.type(key)]?.(key)]);
  const text = JSON.stringify(await Promise.all(found));
  redis.disconnect();
  return text;
}
