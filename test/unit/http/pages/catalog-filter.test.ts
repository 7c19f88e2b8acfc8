import { describe, expect, it } from "vitest";
import { catalogPath, catalogPathBy, readCatalogFilter } from "../../../../src/http/pages/catalog-filter.ts";
import type { EntryFilter } from "../../../../src/registry/find.ts";

describe("read", () => {
  const shouldRead = (query: string, filter: EntryFilter, path: string): void =>
    it(`?${query}`, () => {
      const read = readCatalogFilter(new URLSearchParams(query));
      expect(read).toStrictEqual(filter);
      expect(catalogPath(read)).toBe(path);
    });
  shouldRead("", { limit: 25, offset: 0 }, "/");
  shouldRead("q=&keyword=&status=&interface=&class=&property=", { limit: 25, offset: 0 }, "/");
  shouldRead("q=+a+%26+b+", { q: "a & b", limit: 25, offset: 0 }, "/?q=a+%26+b");
  shouldRead(
    "status=up&interface=tpf&keyword=x&cursor=50&limit=10",
    { keyword: "x", status: "up", interface: "tpf", limit: 10, offset: 50 },
    "/?keyword=x&status=up&interface=tpf&limit=10&cursor=50",
  );
  shouldRead("class=foaf:Person&fbclid=1", { class: "foaf:Person", limit: 25, offset: 0 }, "/?class=foaf%3APerson");
});

describe("refused", () => {
  const shouldRefuse = (query: string, message: string): void =>
    it(message, () =>
      expect(() => readCatalogFilter(new URLSearchParams(query))).toThrow(
        expect.objectContaining({ code: "REQUEST_INVALID", message }),
      ),
    );
  shouldRefuse("status=uo", '"status" has a value that is not known.');
  shouldRefuse("interface=SPARQL", '"interface" has a value that is not known.');
  shouldRefuse("cursor=-1", '"cursor" is no number from 0 to 1000000.');
  shouldRefuse("limit=201", '"limit" is no number from 1 to 200.');
  shouldRefuse(`q=${"q".repeat(501)}`, '"q" is longer than 500 characters.');
});

it("leads to all with a value", () => expect(catalogPathBy("keyword", '"&x')).toBe("/?keyword=%22%26x"));
