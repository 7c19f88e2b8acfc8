import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import type { CatalogWrite } from "../../../../src/registry/catalog/catalog.ts";
import { openCatalog } from "../../../../src/registry/catalog/open-catalog.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/sqlite-store.ts";
import {
  type CatalogFolder,
  createCatalogFolder,
  endpointTurtle,
  shapesFile,
} from "../../../support/catalog-folder.ts";

const baseUrl = "http://127.0.0.1:4000";
let folder: CatalogFolder;
beforeEach(async () => {
  folder = await createCatalogFolder();
});

const quadsOf = (turtle: string) => parseTurtle(turtle, { baseIri: `${baseUrl}/`, maxBytes: 100_000, maxQuads: 1_000 });
const endpoint = (id: string, url: string): CatalogWrite => ({
  id,
  kind: "endpoint",
  mode: "put",
  quads: quadsOf(endpointTurtle(id, url)),
});

/** One life of the service: the store is opened, and closed in the end. */
async function living<Result>(life: (catalog: Awaited<ReturnType<typeof openCatalog>>) => Promise<Result>) {
  const store = openSqliteStore({ path: join(folder.path, "store.sqlite") });
  try {
    return await life(await openCatalog({ dirs: [{ path: folder.path }], baseUrl, store, shapesFile, now: Date.now }));
  } finally {
    await store.close();
  }
}

describe("changes in SQLite", () => {
  it("lie over the files after a restart, tombstones too", async () => {
    await folder.write({
      "a.ttl": endpointTurtle("a", "http://a.example/"),
      "b.ttl": endpointTurtle("b", "http://b.example/"),
      "c.ttl": endpointTurtle("c", "http://c.example/"),
    });
    const etag = await living(async (catalog) => {
      await catalog.remove("endpoint", "b");
      await catalog.write(endpoint("d", "http://d.example/"));
      return (await catalog.write(endpoint("a", "http://a2.example/"))).etag;
    });
    await folder.write({ "b.ttl": endpointTurtle("b", "http://b2.example/") });
    await living(async (catalog) => {
      expect(catalog.entries.map(({ id, url }) => `${id} ${url}`)).toEqual([
        "a http://a2.example/",
        "c http://c.example/",
        "d http://d.example/",
      ]);
      expect(catalog.document("endpoint", "a")).toMatchObject({ etag, origin: "api" });
      expect(catalog.drift.map(({ id, how }) => `${id} ${how}`)).toEqual([
        "a file-hidden-by-change",
        "b file-hidden-by-deletion",
        "b file-changed-since",
      ]);
      await catalog.write(endpoint("b", "http://b3.example/"));
      await catalog.remove("endpoint", "d");
    });
    await living(async (catalog) => {
      expect(catalog.entries.map(({ id, url }) => `${id} ${url}`)).toEqual([
        "a http://a2.example/",
        "b http://b3.example/",
        "c http://c.example/",
      ]);
    });
  });

  it("are few among 1,000 files", async () => {
    const files = Array.from({ length: 1_000 }, (_, at) => [
      `e${at}.ttl`,
      endpointTurtle(`e${at}`, `http://e${at}.example/`),
    ]);
    await folder.write(Object.fromEntries(files));
    await living(async (catalog) => {
      await catalog.write(endpoint("e7", "http://new.example/"));
      await catalog.remove("endpoint", "e8");
      expect(catalog.entries).toHaveLength(999);
      expect(catalog.byUrl("http://new.example/")?.id).toBe("e7");
      expect(catalog.byUrl("http://e999.example/")?.id).toBe("e999");
    });
  });
});
