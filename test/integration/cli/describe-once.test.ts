import type { DescribedOnce, DescribeOnceOptions } from "../../../src/registry/compute/describe-once.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeOnce } from "../../../src/app/describe-once.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { ErrorCode } from "../../../src/errors/codes.ts";
import { type CatalogFolder, createCatalogFolder, endpointTurtle } from "../../support/catalog-folder.ts";
import { eventually } from "../../support/eventually.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const data = `
<urn:x:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x:Book> .
<urn:x:2> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x:Book> .
<urn:x:1> <urn:x:title> "One" .
`;
const allTypes = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

let server: SparqlTestServer;
let catalog: CatalogFolder;
beforeAll(async () => {
  server = await startSparqlTestServer(data);
  catalog = await createCatalogFolder();
  await catalog.write({
    "books.ttl": endpointTurtle("books", server.url),
    "file.ttl": endpointTurtle("dump", "http://127.0.0.1:1/").replace("dcat:endpointURL", "void:dataDump"),
  });
});
afterAll(async () => {
  await server.close();
});
beforeEach(() => {
  server.setFault(undefined);
  server.clearRequests();
});

const configWith = (env: Readonly<Record<string, string>> = {}) =>
  loadConfig({
    FEDWAY_CATALOG: catalog.path,
    FEDWAY_EXAMPLES: "off",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_PUBLIC_URL: "http://fedway.example",
    ...env,
  });

const describing = (target: string, options: Partial<DescribeOnceOptions> = {}): Promise<DescribedOnce> =>
  describeOnce(configWith(), target, { signal: new AbortController().signal, pauseMs: 0, ...options });

const shouldFail = (
  name: string,
  target: () => string,
  { code, env }: { readonly code: ErrorCode; readonly env?: Readonly<Record<string, string>> },
): void =>
  it(`fails for ${name}`, async () => {
    const signal = new AbortController().signal;
    await expect(describeOnce(configWith(env), target(), { signal })).rejects.toMatchObject({ code });
    expect(server.requests).toHaveLength(0);
  });

describe("a whole description", () => {
  it("is made by id, after a search for the publisher's", async () => {
    const stages: string[] = [];
    const { description, retrieved, interrupted } = await describing("books", {
      onProgress: ({ stage }) => stages.push(stage),
    });
    expect(description).toMatchObject({
      endpoint: server.url,
      id: "books",
      dataset: "http://fedway.example/endpoints/books#dataset",
      source: "computed",
      unfinished: false,
      triples: { value: 3, status: "exact" },
      classesComplete: true,
      classPartitions: [{ class: "urn:x:Book", entities: { value: 2 } }],
    });
    expect(description.propertyPartitions.map(({ property }) => property).toSorted()).toStrictEqual([
      allTypes,
      "urn:x:title",
    ]);
    expect(retrieved?.description).toBeUndefined();
    expect(description.records.filter(({ rung }) => rung === 0).length).toBeGreaterThan(2);
    expect(interrupted).toBe(false);
    expect([stages[0], stages.at(-1)]).toStrictEqual(["looking for the publisher's description", "done"]);
    expect(description.cost.requests).toBe(description.records.length);
  });
});

describe("a run that ends early", () => {
  const nothing = { unfinished: true, classPartitions: [], propertyPartitions: [] };

  it("without requests left says that everything is left to do", async () => {
    const { description, retrieved } = await describing(server.url, { budget: { requests: 2 } });
    expect(description).toMatchObject({ ...nothing, id: "books", cost: { requests: 2 } });
    expect(description.unknown).toContainEqual({ what: "class list", why: "budget" });
    expect(retrieved?.description).toBeUndefined();
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  it("keeps what a small budget has found out", async () => {
    const { description } = await describing("books", { retrieve: false, budget: { requests: 6 } });
    expect(description).toMatchObject({ unfinished: true, classPartitions: [{ class: "urn:x:Book" }] });
    expect(server.requests).toHaveLength(6);
    expect(server.requests.every(({ query }) => query !== undefined)).toBe(true);
  });

  it("by time ends in time, also while an answer is awaited", async () => {
    server.setFault({ kind: "hang" });
    const { description, interrupted } = await describing("books", { budget: { ms: 300 } });
    // The answer is not waited for: the request is given up.
    await eventually(() => expect(server.requests.every(({ aborted }) => aborted)).toBe(true));
    expect(description).toMatchObject(nothing);
    expect(interrupted).toBe(false);
  });

  it.each([true, false])("by its signal gives what was found so far (retrieve: %s)", async (retrieve) => {
    const aborter = new AbortController();
    const { description, interrupted } = await describing("books", {
      retrieve,
      signal: aborter.signal,
      onProgress: ({ stage }) => {
        if (stage === "named graphs") aborter.abort();
      },
    });
    expect(interrupted).toBe(true);
    expect(description).toMatchObject({ unfinished: true, classPartitions: [{ class: "urn:x:Book" }] });
    expect(description.unknown).toContainEqual({ what: "labels", why: "budget" });
  });

  it("by its signal during the search too", async () => {
    const aborter = new AbortController();
    const onProgress = () => aborter.abort();
    const { description, interrupted } = await describing("books", { signal: aborter.signal, onProgress });
    expect(interrupted).toBe(true);
    expect(description).toMatchObject(nothing);
  });
});

describe("an endpoint that cannot be described", () => {
  it("is an error when it answers no query", async () => {
    server.setFault({ kind: "status", status: 403 });
    await expect(describing("books")).rejects.toMatchObject({ code: "ENDPOINT_REFUSED" });
    expect(server.requests.length).toBeGreaterThan(0);
  });

  it("is an error soon when it is not there", async () => {
    const stages = new Set<string>();
    const onProgress = ({ stage }: { readonly stage: string }) => stages.add(stage);
    const described = describing("http://127.0.0.1:1/sparql", { onProgress });
    await expect(described).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(stages.size).toBeLessThanOrEqual(2);
  });

  shouldFail("a private address", () => server.url, { code: "ADDRESS_REFUSED", env: { FEDWAY_ALLOW_ADDRESSES: "" } });
  shouldFail("an unknown id", () => "nix", { code: "ENDPOINT_UNKNOWN" });
  shouldFail("a file", () => "dump", { code: "REQUEST_INVALID" });
  shouldFail("something that is neither URL nor id", () => "No id", { code: "REQUEST_INVALID" });
  shouldFail("a scheme that is not HTTP", () => "ftp://127.0.0.1/", { code: "REQUEST_INVALID" });
  shouldFail("a catalogue that cannot be read", () => "books", {
    code: "CATALOG_INVALID",
    env: { FEDWAY_CATALOG: "/no/such/folder" },
  });

  it.each([
    "http://u:secret@127.0.0.1/",
    "ftp://u:secret@127.0.0.1/",
    "u:secret@127.0.0.1",
    "http://u:secret@x:99999/",
  ])("is one with credentials, which are not repeated: %s", async (target) => {
    const error: unknown = await describing(target).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "REQUEST_INVALID" });
    expect(JSON.stringify(error) + String(error)).not.toContain("secret");
  });
});

describe("an address that is allowed", () => {
  it("is described without any catalogue", async () => {
    const config = configWith({ FEDWAY_CATALOG: "/no/such/folder" });
    const signal = new AbortController().signal;
    const { description } = await describeOnce(config, `${server.url}#fragment`, {
      signal,
      retrieve: false,
      budget: { requests: 4 },
    });
    expect(description).toMatchObject({ endpoint: server.url, dataset: `${server.url}#dataset` });
    expect(description.id).toBeUndefined();
  });

  it("is hosted in this process when it is an example's", async () => {
    const config = configWith({ FEDWAY_EXAMPLES: "on", FEDWAY_ALLOW_ADDRESSES: "" });
    const signal = new AbortController().signal;
    const { description } = await describeOnce(config, "weather", { signal, budget: { requests: 30 } });
    expect(description).toMatchObject({ id: "weather", endpoint: "http://fedway.example/hosted/weather/sparql" });
    expect(description.classPartitions.length).toBeGreaterThan(0);
  });
});
