import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadQueries } from "../../../../../src/shards/load/queries/load-queries.ts";
import { newFolder } from "../../../../support/scratch-folder.ts";

let folder: string;
const place = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = newFolder();
  await mkdir(place("rq"));
  await mkdir(place("empty"));
  await writeFile(place("rq/b.rq"), "# Which dogs\r\n#+ are old?\r\n\r\n# no\r\nASK { ?s ?p 1 }");
  await writeFile(place("rq/a.rq"), "ASK {}");
  await writeFile(place("rq/c.rq"), "ASK {");
  await writeFile(place("rq/notes.txt"), "no query");
  await writeFile(place("secret"), "ASK { ?s ?p 2 }");
  await symlink(place("secret"), place("rq/d.rq"));
  await mkdir(place("rq/e.rq"));
  await writeFile(place("queries.json"), '[{"id": "j", "sparql": "ASK {}"}]');
  await writeFile(place("QUERIES.CSV"), "\uFEFFid,sparql\nk,ASK {}");
  await writeFile(place("latin.json"), Buffer.from([0x5b, 0x22, 0xe9, 0x22, 0x5d]));
});

describe("a folder", () => {
  it("gives its .rq files in the order of their names, with their first comments as questions", async () => {
    const { queries, rejected } = await loadQueries(place("rq"));
    expect(queries.map(({ id, question }) => [id, question])).toEqual([
      ["a", undefined],
      ["b", "Which dogs are old?"],
    ]);
    expect(rejected.map(({ id, place: where, code, line }) => [id, where, code, line])).toEqual([
      ["c", "c.rq", "QUERY_SYNTAX", 1],
      ["d", "d.rq", "REQUEST_INVALID", undefined],
      ["e", "e.rq", "REQUEST_INVALID", undefined],
    ]);
  });
});

describe("a file", () => {
  it("may be JSON", async () => {
    expect((await loadQueries(place("queries.json"))).queries).toEqual([{ id: "j", text: "ASK {}", same: ["j"] }]);
  });

  it("may be CSV, with a byte order mark", async () => {
    expect((await loadQueries(place("QUERIES.CSV"))).queries).toEqual([{ id: "k", text: "ASK {}", same: ["k"] }]);
  });
});

const shouldRefuse = (
  name: string,
  expected: { code: string; message: RegExp },
  limits?: { maxBytes?: number; maxQueries?: number },
): void => {
  it(`${name} is refused: ${expected.message.source}`, async () => {
    const loading = loadQueries(place(name), { ...(limits && { limits }) });
    await expect(loading).rejects.toMatchObject({
      code: expected.code,
      message: expect.stringMatching(expected.message) as string,
    });
  });
};

describe("what cannot be read", () => {
  shouldRefuse("missing.json", { code: "REQUEST_INVALID", message: /"missing.json" cannot be read/ });
  shouldRefuse("secret", { code: "REQUEST_INVALID", message: /neither JSON nor CSV/ });
  shouldRefuse("latin.json", { code: "REQUEST_INVALID", message: /not UTF-8/ });
  shouldRefuse("empty", { code: "REQUEST_INVALID", message: /There are no queries/ });
  shouldRefuse("queries.json", { code: "REQUEST_TOO_LARGE", message: /larger than 10 bytes/ }, { maxBytes: 10 });
  // The files of a folder count together.
  shouldRefuse("rq", { code: "REQUEST_TOO_LARGE", message: /larger than/ }, { maxBytes: 55 });
  shouldRefuse("rq", { code: "REQUEST_TOO_LARGE", message: /more than 4 queries/ }, { maxQueries: 4 });
});
