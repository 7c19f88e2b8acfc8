import { DataFactory } from "n3";
import { beforeEach, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../../src/errors/codes.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import type { CatalogWrite } from "../../../../src/registry/catalog/catalog.ts";
import { openCatalog } from "../../../../src/registry/catalog/open-catalog.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../../src/store/store.ts";
import {
  type CatalogFolder,
  createCatalogFolder,
  endpointTurtle,
  federationTurtle,
  shapesFile,
} from "../../../support/catalog-folder.ts";
import { isIsomorphic } from "../../../support/graph-generator.ts";
import type { EditableCatalog } from "../../../../src/registry/catalog.ts";

type OpenCatalogOptions = Parameters<typeof openCatalog>[0];

const baseUrl = "http://127.0.0.1:4000";
let folder: CatalogFolder;
let store: Store;
let nowMs = 0;
beforeEach(async () => {
  folder = await createCatalogFolder();
  store = openSqliteStore({ path: ":memory:" });
  nowMs = Date.parse("2026-01-02T03:04:05Z");
});

const open = (more: Partial<OpenCatalogOptions> = {}): Promise<EditableCatalog> =>
  openCatalog({ dirs: [{ path: folder.path }], baseUrl, store, now: () => nowMs, ...more });
const quadsOf = (turtle: string) =>
  parseTurtle(turtle, { baseIri: `${baseUrl}/`, maxBytes: 10_000_000, maxQuads: 50_000 });
const endpoint = (id: string, url: string, ...statements: readonly string[]): CatalogWrite => ({
  id,
  kind: "endpoint",
  mode: "put",
  quads: quadsOf(endpointTurtle(id, url, ...statements)),
});
const federation = (id: string, ...statements: readonly string[]): CatalogWrite => ({
  id,
  kind: "federation",
  mode: "put",
  quads: quadsOf(federationTurtle(id, ...statements)),
});
const idsOf = (catalog: EditableCatalog) => catalog.entries.map(({ id }) => id);
const rejection = async (promise: Promise<unknown>): Promise<FedwayError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FedwayError) return error;
  throw new Error(`expected a FedwayError, got ${String(error)}`);
};
/** Refuses a write to a catalogue of the file `a` (http://a.example/sparql), and shows and stores nothing. */
async function shouldRefuse(
  change: () => CatalogWrite,
  code: ErrorCode,
  reason: RegExp,
  options: Partial<OpenCatalogOptions> = {},
) {
  await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/sparql") });
  const catalog = await open({ shapesFile, ...options });
  const error = await rejection(catalog.write(change()));
  expect([error.code, error.message]).toEqual([code, expect.stringMatching(reason)]);
  expect(error.message).not.toMatch(/secret/);
  expect([catalog.version, idsOf(catalog), await store.list("")]).toEqual([1, ["a"], []]);
}

describe("a change", () => {
  it("is shown at once, and to those who listen", async () => {
    await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/") });
    const catalog = await open();
    const before = catalog.entries;
    let calls = 0;
    const stop = catalog.onChange(() => (calls += 1));
    const document = await catalog.write(endpoint("b", "http://b.example/sparql", 'dcat:keyword "x"'));
    expect(document).toMatchObject({ id: "b", kind: "endpoint", origin: "api", changedAt: "2026-01-02T03:04:05.000Z" });
    expect([catalog.version, calls, idsOf(catalog), before.length]).toEqual([2, 1, ["a", "b"], 1]);
    expect(catalog.byUrl("HTTP://B.example:80/sparql")).toMatchObject({ id: "b", keywords: ["x"] });
    stop();
    await catalog.remove("endpoint", "b");
    expect([catalog.version, calls, idsOf(catalog)]).toEqual([3, 1, ["a"]]);
  });
  it("survives a restart", async () => {
    await folder.write({
      "a.ttl": endpointTurtle("a", "http://a.example/"),
      "b.ttl": endpointTurtle("b", "http://b.example/"),
    });
    const first = await open();
    const { etag } = await first.write(endpoint("a", "http://new.example/", 'skos:note "moved"'));
    await first.remove("endpoint", "b");
    await first.write(endpoint("c", "http://c.example/"));
    await first.write(federation("f", 'fedway:member "a", "gone"'));
    const second = await open();
    expect(idsOf(second)).toEqual(["a", "c"]);
    expect(second.byId("a")).toMatchObject({ url: "http://new.example/", notes: ["moved"] });
    expect(second.document("endpoint", "a")).toMatchObject({ etag, origin: "api" });
    expect(second.membersOf(second.federation("f")!).map(({ id }) => id)).toEqual(["a"]);
    expect(second.documents().map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      "endpoint a",
      "endpoint c",
      "federation f",
    ]);
  });
  it("keeps every triple", async () => {
    const turtle = `${endpointTurtle("b", "http://b.example/", "<urn:x:p> [ <urn:x:q> ( 1.0 'two'@en-GB [] ) ]")}<urn:x:o> <urn:x:p> "\\u0007é\\n" .`;
    const quads = quadsOf(turtle);
    const catalog = await open();
    const { etag } = await catalog.write({ id: "b", kind: "endpoint", mode: "put", quads });
    const kept = (await open()).document("endpoint", "b");
    expect(kept?.quads).toHaveLength(13);
    expect([isIsomorphic(kept!.quads, quads), kept!.etag]).toEqual([true, etag]);
  });
  it("that changes nothing is none", async () => {
    const catalog = await open();
    const first = await catalog.write(endpoint("b", "http://b.example/"));
    nowMs += 1_000;
    const again = await catalog.write(endpoint("b", "http://b.example/"));
    expect([again.changedAt, catalog.version]).toEqual([first.changedAt, 2]);
  });
  it("moves with the service's own address", async () => {
    const catalog = await open();
    await catalog.write(endpoint("b", "hosted/b/sparql"));
    const moved = await open({ baseUrl: "https://fedway.example/base" });
    expect(moved.byId("b")?.url).toBe("https://fedway.example/base/hosted/b/sparql");
  });
  it("waits for the one before", async () => {
    const catalog = await open();
    const [first, ...others] = await Promise.allSettled(
      Array.from({ length: 5 }, () => catalog.write({ ...endpoint("b", "http://b.example/"), mode: "create" })),
    );
    expect([first?.status, ...others.map(({ status }) => status)]).toEqual(["fulfilled", ...Array(4).fill("rejected")]);
  });
  it("is not undone by a listener that fails", async () => {
    const catalog = await open();
    const thrown: unknown[] = [];
    const keep = (error: unknown) => thrown.push(error);
    const before = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException").on("uncaughtException", keep);
    catalog.onChange(() => {
      throw new Error("broken listener");
    });
    await catalog.write(endpoint("b", "http://b.example/"));
    await new Promise((resolve) => setImmediate(resolve));
    process.removeAllListeners("uncaughtException");
    for (const listener of before) process.on("uncaughtException", listener);
    expect([idsOf(catalog), thrown]).toEqual([["b"], [expect.objectContaining({ message: "broken listener" })]]);
  });
});

describe("a refused change", () => {
  const at =
    (url: string, ...statements: readonly string[]) =>
    (): CatalogWrite =>
      endpoint("b", url, ...statements);
  const b = (...statements: readonly string[]): CatalogWrite => endpoint("b", "http://b.example/", ...statements);
  const turtle = endpointTurtle("b", "http://b.example/");
  const from = (text: string) => (): CatalogWrite => ({ ...b(), quads: quadsOf(text) });
  const withObject = (iri: string) => (): CatalogWrite => {
    const [s, p, o] = ["urn:x:s", "urn:x:p", iri].map((each) => DataFactory.namedNode(each));
    return { ...b(), quads: [...b().quads, DataFactory.quad(s!, p!, o!)] };
  };
  const many = `<urn:x:p> ${Array.from({ length: 10_001 }, (_, n) => n).join(",")}`;

  it.each<[string, () => CatalogWrite, RegExp, Partial<OpenCatalogOptions>?]>([
    ["has no title", from(turtle.replace(/.*dcterms:title.*\n/, "")), /title is missing\..* dcterms:title is a text/],
    ["breaks a shape", () => b('dcterms:description ""'), /description is/],
    ["is about another id", () => ({ ...b(), id: "c" }), /identifier is "b", but .* "c"/],
    ["is of another kind", () => ({ ...b(), kind: "federation" }), /does not describe a fedway:Federation/],
    ["is empty", from(""), /no dcat:DataService/],
    ["has a password", at("http://u:secret@b.example/"), /user name or password/],
    ["is too long", () => b(many), /more than 10000 triples/],
    ["is too large", () => b(`<urn:x:p> "${"x".repeat(1_000_000)}"`), /larger than 1 MB/],
    ["is no Unicode", () => b('skos:note "\ud800"'), /surrogate/],
    ["has a relative IRI", withObject("rel"), /"rel" is not an absolute IRI/],
    ["has a space in an IRI", withObject("urn:x:a b"), /is not an absolute IRI/],
    ["has a triple term", from(`${turtle} <a> <b> <<( <a> <b> 1 )>> .`), /triple term/],
    ["has a private address", b, /may not be registered: it is private/, { refuseUrl: () => "it is private." }],
  ])("%s", (_name, change, reason, options) => shouldRefuse(change, "ENTRY_INVALID", reason, options));

  it.each(["HTTP://A.example:80/sparql", "https://a.example/sparql", "http://a.example/sparql/"])(
    "has the URL %s, which is taken",
    (url) => shouldRefuse(at(url), "ENTRY_CONFLICT", /"a" has this URL already/),
  );

  it("has the URL of a route of this service that may federate", () =>
    shouldRefuse(at("/endpoints/a/sparql"), "ENTRY_INVALID", /by which this service would call itself/));

  const a = (more: Partial<CatalogWrite>) => (): CatalogWrite => ({ ...endpoint("a", "http://b.example/"), ...more });
  const other = (): CatalogWrite => ({ ...federation("a", 'fedway:member "a"'), mode: "replace" });
  it.each<[string, ...Parameters<typeof shouldRefuse>]>([
    ["creates what is there", a({ mode: "create" }), "ENTRY_CONFLICT", /already has the endpoint "a"/],
    ["replaces what is not there", () => ({ ...b(), mode: "replace" }), "ENDPOINT_UNKNOWN", /no endpoint "b"/],
    ["replaces no federation", other, "FEDERATION_UNKNOWN", /no federation "a"/],
    ["has an old etag", a({ ifMatch: "old" }), "PRECONDITION_FAILED", /not the one/],
    ["has an etag of nothing", () => ({ ...b(), ifMatch: "*" }), "PRECONDITION_FAILED", /not the one/],
  ])("%s", (_name, ...row) => shouldRefuse(...row));
});

describe("an accepted change", () => {
  it("has the right etag, any etag or a private address of our own", async () => {
    await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/") });
    const catalog = await open({ shapesFile, refuseUrl: () => "no" });
    const { etag } = catalog.document("endpoint", "a")!;
    const second = await catalog.write({ ...endpoint("a", "hosted/x/sparql"), ifMatch: etag, mode: "replace" });
    expect(second.etag).not.toBe(etag);
    await catalog.write({ ...endpoint("a", "hosted/y/sparql"), ifMatch: "*" });
    await catalog.remove("endpoint", "a", catalog.document("endpoint", "a")!.etag);
    expect(catalog.entries).toEqual([]);
  });
  it("keeps its URL although another one is nearly the same", async () => {
    await folder.write({
      "a.ttl": endpointTurtle("a", "http://a.example/x"),
      "b.ttl": endpointTurtle("b", "https://a.example/x/"),
    });
    const catalog = await open();
    await catalog.write(endpoint("b", "https://a.example/x/", 'skos:note "n"'));
    expect(catalog.byId("b")?.notes).toEqual(["n"]);
  });
  it("may have an id that is also a federation's", async () => {
    const catalog = await open();
    await catalog.write(endpoint("x", "http://x.example/"));
    await catalog.write(federation("x", 'fedway:member "x"'));
    expect(catalog.membersOf(catalog.federation("x")!)).toEqual([catalog.byId("x")]);
  });
});

describe("removing", () => {
  it("uncovers the URL for others", async () => {
    await folder.write({
      "a.ttl": endpointTurtle("a", "http://a.example/"),
      "b.ttl": endpointTurtle("b", "http://a.example/"),
    });
    const catalog = await open();
    expect([idsOf(catalog), catalog.problems.length]).toEqual([["a"], 1]);
    await catalog.remove("endpoint", "a");
    expect([idsOf(catalog), catalog.problems]).toEqual([["b"], []]);
    expect(idsOf(await open())).toEqual(["b"]);
  });
  it("leaves nothing of what was never a file", async () => {
    const catalog = await open();
    await catalog.write(endpoint("b", "http://b.example/"));
    await catalog.remove("endpoint", "b");
    expect(await store.list("")).toEqual([]);
  });
  it("can be taken back", async () => {
    await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/") });
    const catalog = await open();
    await catalog.remove("endpoint", "a");
    await catalog.write({ ...endpoint("a", "http://a.example/"), mode: "create" });
    expect(idsOf(await open())).toEqual(["a"]);
  });
  it("wants something to remove", async () => {
    await folder.write({ "alpha.ttl": endpointTurtle("alpha", "http://a.example/") });
    const catalog = await open();
    expect(await rejection(catalog.remove("endpoint", "alpa"))).toMatchObject({
      code: "ENDPOINT_UNKNOWN",
      details: { endpoints: ["alpha"] },
    });
    expect((await rejection(catalog.remove("federation", "alpha"))).code).toBe("FEDERATION_UNKNOWN");
    expect((await rejection(catalog.remove("endpoint", "alpha", "old"))).code).toBe("PRECONDITION_FAILED");
  });
});

describe("drift", () => {
  const driftOf = async () => (await open()).drift.map(({ id, how }) => `${id} ${how}`);
  it("says which files are hidden, and which changed since", async () => {
    await folder.write({
      "a.ttl": endpointTurtle("a", "http://a.example/"),
      "b.ttl": endpointTurtle("b", "http://b.example/"),
      "c.ttl": endpointTurtle("c", "http://c.example/"),
    });
    const catalog = await open();
    expect(catalog.drift).toEqual([]);
    await catalog.write(endpoint("a", "http://new.example/"));
    await catalog.remove("endpoint", "b");
    const hidden = ["a file-hidden-by-change", "b file-hidden-by-deletion"];
    expect(await driftOf()).toEqual(hidden);
    expect(catalog.drift[0]).toEqual({
      id: "a",
      kind: "endpoint",
      how: "file-hidden-by-change",
      file: folder.file("a.ttl"),
    });
    await folder.write({ "b.ttl": endpointTurtle("b", "http://b2.example/") });
    expect(await driftOf()).toEqual([...hidden, "b file-changed-since"]);
    await catalog.write(endpoint("d", "http://d.example/"));
    await folder.write({ "d.ttl": endpointTurtle("d", "http://d.example/") });
    expect(await driftOf()).toEqual([
      ...hidden,
      "b file-changed-since",
      "d file-hidden-by-change",
      "d file-changed-since",
    ]);
  });
});

describe("another process on the same store", () => {
  it("is seen by the next refresh, and by the next write", async () => {
    const [one, two] = [await open(), await open()];
    await one.write(endpoint("b", "http://b.example/"));
    expect(idsOf(two)).toEqual([]);
    await two.refresh();
    expect([idsOf(two), two.version]).toEqual([["b"], 2]);
    await two.refresh();
    expect(two.version).toBe(2);
    await one.write(endpoint("c", "http://c.example/"));
    expect((await rejection(two.write(endpoint("d", "https://c.example")))).code).toBe("ENTRY_CONFLICT");
    expect(idsOf(two)).toEqual(["b", "c"]);
  });
  it("cannot take the same URL at the same time", async () => {
    const [one, two] = [await open(), await open()];
    const results = await Promise.allSettled([
      one.write(endpoint("b", "http://x.example/")),
      two.write(endpoint("c", "http://x.example/")),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await Promise.all([one.refresh(), two.refresh()]);
    expect([idsOf(one), one.problems]).toEqual([idsOf(two), []]);
  });
  it("is seen in time although it died before it could tell", async () => {
    const [one, two] = [await open(), await open()];
    await one.write(endpoint("b", "http://b.example/"));
    await two.refresh();
    await store.delete("catalog/endpoint/b");
    await two.refresh();
    expect(idsOf(two)).toEqual(["b"]);
    nowMs += 300_001;
    await two.refresh();
    expect(idsOf(two)).toEqual([]);
  });
});

describe("a stored change that cannot be used", () => {
  const shouldReport = async (stored: string, reason: RegExp): Promise<void> => {
    await folder.write({ "a.ttl": endpointTurtle("a", "http://a.example/") });
    await store.put("catalog/endpoint/a", stored);
    await store.put("catalog/other/a", "not ours");
    const catalog = await open();
    expect(catalog.entries).toEqual([]);
    expect(catalog.problems).toEqual([{ file: 'the change of endpoint "a"', reason: expect.stringMatching(reason) }]);
    await catalog.remove("endpoint", "a");
    await catalog.write(endpoint("a", "http://a.example/"));
    expect([idsOf(catalog), catalog.problems]).toEqual([["a"], []]);
  };
  const record = (turtle: string) => JSON.stringify({ format: 1, changedAt: "2026-01-01T00:00:00.000Z", turtle });
  it.each<[string, ...Parameters<typeof shouldReport>]>([
    ["is no JSON", "{", /cannot be read/],
    ["is of a later format", '{"format":2,"changedAt":""}', /cannot be read/],
    ["is no Turtle", record("<a"), /not valid Turtle/],
    ["is no entry", record(""), /no dcat:DataService/],
    ["is another entry", record(endpointTurtle("z", "http://z.example/")), /about "z"/],
  ])("%s", (_name, ...row) => shouldReport(...row));
});

it("asks the given search for the members of a query", async () => {
  const catalog = await open({ search: (text) => (text === "find b" ? ["b"] : []) });
  await catalog.write(endpoint("b", "http://b.example/"));
  await catalog.write(federation("f", 'fedway:memberQuery "find b"'));
  expect(catalog.membersOf(catalog.federation("f")!).map(({ id }) => id)).toEqual(["b"]);
});
