import { describe, expect, it } from "vitest";
import { looseKey, urlKeys } from "../../../../src/registry/catalog/index-catalog.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";
import type { CatalogEntry } from "../../../../src/registry/catalog.ts";

const entry = (id: string, url: string): CatalogEntry => catalogEntry(id, { url });
const entries = [
  entry("zeta", "https://Zeta.example:443/sparql?a=b"),
  entry("alpha", "http://127.0.0.1:3000/fed/hosted/alpha/sparql"),
  entry("root", "https://root.example"),
];
const catalog = createCatalog(entries, [{ file: "x.ttl", reason: "bad" }], {
  publicUrl: "http://127.0.0.1:3000/fed",
  ownOrigins: ["https://fedway.example"],
});
const shouldFind = (url: string, id: string | undefined) => () => expect(catalog.byUrl(url)?.id).toBe(id);

describe("createCatalog", () => {
  it("sorts by id", () => expect(catalog.entries.map(({ id }) => id)).toEqual(["alpha", "root", "zeta"]));
  it("keeps the problems", () => expect(catalog.problems).toEqual([{ file: "x.ttl", reason: "bad" }]));
  it("finds by id", () => expect(catalog.byId("zeta")).toBe(entries[0]));
  it("knows no prototype ids", () => expect(catalog.byId("constructor")).toBeUndefined());
  it("is frozen", () => {
    expect([catalog, catalog.entries, catalog.problems].every(Object.isFrozen)).toBe(true);
  });
});

describe("byUrl", () => {
  it("finds the URL as written", shouldFind("https://Zeta.example:443/sparql?a=b", "zeta"));
  it("ignores the default port and the host's case", shouldFind("HTTPS://zeta.EXAMPLE/sparql?a=b", "zeta"));
  it("minds another port", shouldFind("https://zeta.example:8443/sparql?a=b", undefined));
  it("minds the scheme", shouldFind("http://zeta.example/sparql?a=b", undefined));
  it("minds the query", shouldFind("https://zeta.example/sparql", undefined));
  it("minds the case of the path", shouldFind("https://zeta.example/SPARQL?a=b", undefined));
  it("resolves no dot segments", shouldFind("https://zeta.example/x/../sparql?a=b", undefined));
  it("decodes no path", shouldFind("https://zeta.example/%73parql?a=b", undefined));
  it("takes no user name", shouldFind("https://u@zeta.example/sparql?a=b", undefined));
  it("takes no backslash", shouldFind("https:\\\\zeta.example\\sparql?a=b", undefined));
  it("takes an empty path for /", shouldFind("https://root.example/", "root"));
  it("takes / for an empty path", shouldFind("https://ROOT.example", "root"));
  it("knows localhost", shouldFind("http://localhost:3000/fed/hosted/alpha/sparql", "alpha"));
  it("knows the IPv6 loopback", shouldFind("http://[::1]:3000/fed/hosted/alpha/sparql", "alpha"));
  it("knows other own origins", shouldFind("https://fedway.example/fed/hosted/alpha/sparql", "alpha"));
  it("knows no other loopback port", shouldFind("http://localhost:3001/fed/hosted/alpha/sparql", undefined));
  it("knows its own endpoint route", shouldFind("http://127.0.0.1:3000/fed/endpoints/zeta/sparql", "zeta"));
  it("knows its own route under another name", shouldFind("http://LOCALHOST:3000/fed/endpoints/zeta/sparql", "zeta"));
  it("wants the public URL's path", shouldFind("http://127.0.0.1:3000/endpoints/zeta/sparql", undefined));
  it("knows no unknown id", shouldFind("http://127.0.0.1:3000/fed/endpoints/beta/sparql", undefined));
  it("wants the whole route", shouldFind("http://127.0.0.1:3000/fed/endpoints/zeta/sparql/", undefined));
  it("answers nothing for its own /sparql", shouldFind("http://127.0.0.1:3000/fed/sparql", undefined));
  it("answers nothing for no URL", shouldFind("urn:x:zeta", undefined));
  it("answers nothing for nonsense", shouldFind("", undefined));
});

describe("membersOf", () => {
  const members = createCatalog(
    [
      catalogEntry("bio", { title: "Bio portal", keywords: ["Life Sciences", "Proteins"] }),
      catalogEntry("art", { description: "Paintings in PROTEIN colours.", keywords: ["culture"] }),
      catalogEntry("zoo", { keywords: ["life sciences"] }),
    ],
    [],
    { publicUrl: "http://h.example" },
  );
  const federation = { id: "f", title: "F", members: [], memberKeywords: [] };
  const shouldHave = (parts: object, ids: readonly string[]) => () =>
    expect(members.membersOf({ ...federation, ...parts }).map(({ id }) => id)).toEqual(ids);

  it("has the named ones, in id order", shouldHave({ members: ["zoo", "art"] }, ["art", "zoo"]));
  it("leaves unknown ones out", shouldHave({ members: ["zoo", "constructor"] }, ["zoo"]));
  it("finds keywords in any case", shouldHave({ memberKeywords: ["life SCIENCES"] }, ["bio", "zoo"]));
  it("finds whole keywords only", shouldHave({ memberKeywords: ["life"] }, []));
  it("adds everything up", shouldHave({ members: ["art"], memberKeywords: ["proteins"] }, ["art", "bio"]));
  it("asks the search", () => {
    const texts: string[] = [];
    const found = createCatalog([catalogEntry("a"), catalogEntry("b")], [], {
      publicUrl: "http://h.example",
      federations: [{ ...federation, memberQuery: "some text" }],
      search: (text) => {
        texts.push(text);
        return ["b", "gone"];
      },
    });
    expect(found.membersOf(found.federation("f")!).map(({ id }) => id)).toEqual(["b"]);
    expect(texts).toEqual(["some text"]);
  });
});

describe("looseKey", () => {
  const keyOf = urlKeys({ publicUrl: "http://h.example" });
  const loose = (url: string) => looseKey(keyOf(url)!);
  it("ignores the scheme", () => expect(loose("http://a.example/x")).toBe(loose("https://A.example:443/x")));
  it("ignores a slash at the end", () => expect(loose("http://a.example/x/")).toBe(loose("http://a.example/x")));
  it("minds the port", () => expect(loose("http://a.example:8080/x")).not.toBe(loose("http://a.example/x")));
});
