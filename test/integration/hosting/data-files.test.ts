import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { ask, open } from "../../support/endpoint-under-test.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const folder = newFolder();
const thread = { restart: { attempts: 1, delayMs: 1, cooldownMs: 1 } };
const line = (name: string) => `<urn:x:${name}> <urn:x:p> "é" .`;
const all = "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?s";

it("reads files, compressed or not", async () => {
  await writeFile(join(folder, "a.nt"), line("a"));
  await writeFile(join(folder, "b.nt.gz"), gzipSync(`${line("b")}\n`));
  const files = [{ path: join(folder, "a.nt") }, { path: join(folder, "b.nt.gz") }];
  const endpoint = open({ source: { kind: "files", files } });
  expect(await ask(endpoint, all)).toBe("s,o\r\nurn:x:a,é\r\nurn:x:b,é\r\n");
});

it("holds files as named graphs that are together the default graph", async () => {
  const files = ["a", "b"].map((name) => ({ path: join(folder, `${name}-graph.nt`), graph: `urn:x:g-${name}`, name }));
  for (const { path, name } of files) await writeFile(path, `${line(name)}\n`);
  const endpoint = open({ source: { kind: "files", files, triples: 2 } });
  expect(await ask(endpoint, all)).toBe("s,o\r\nurn:x:a,é\r\nurn:x:b,é\r\n");
  const ofGraphs = "SELECT ?g ?s { GRAPH ?g { ?s ?p ?o } } ORDER BY ?g";
  expect(await ask(endpoint, ofGraphs)).toBe("g,s\r\nurn:x:g-a,urn:x:a\r\nurn:x:g-b,urn:x:b\r\n");
  expect(await ask(endpoint, "SELECT ?s FROM <urn:x:g-b> { ?s ?p ?o }")).toBe("s\r\nurn:x:b\r\n");
});

it("refuses a file that is not the one that was written", async () => {
  const path = join(folder, "c.nt");
  await writeFile(path, line("c"));
  const sha256 = createHash("sha256").update(line("c")).digest("hex");
  const source = { kind: "files", files: [{ path, sha256 }] } as const;
  expect(await ask(open({ source }), all)).toBe("s,o\r\nurn:x:c,é\r\n");
  await writeFile(path, `${line("c")}\n${line("d")}`);
  await expect(ask(open({ source, thread }), all)).rejects.toMatchObject({
    code: "ENDPOINT_DATA_INVALID",
    message: "The data of the hosted endpoint alpha cannot be loaded: a file has changed since it was written.",
  });
});

it("refuses a file that is gone, without its path", async () => {
  const source = { kind: "files", files: [{ path: join(folder, "none.nt") }] } as const;
  await expect(ask(open({ source, thread }), all)).rejects.toMatchObject({
    code: "ENDPOINT_DATA_INVALID",
    message: "The data of the hosted endpoint alpha cannot be loaded: a file is missing, or may not be read.",
  });
});

it("does not answer with another number of statements than its files have", async () => {
  const path = join(folder, "counted.nt");
  await writeFile(path, `${line("a")}\n${line("b")}\n`);
  const source = { kind: "files", files: [{ path }] } as const;
  expect(await ask(open({ source: { ...source, triples: 2 } }), all)).toContain("urn:x:b");
  await expect(ask(open({ source: { ...source, triples: 3 } }), all)).rejects.toMatchObject({
    code: "ENDPOINT_DATA_INVALID",
    message: expect.stringContaining("the store has 2 statements where the files have 3.") as string,
  });
});

it("refuses a compressed file that is longer than the memory of its store", async () => {
  const path = join(folder, "long.nt.gz");
  await writeFile(path, gzipSync(Buffer.alloc(17 * 1024 * 1024, "#\n")));
  const source = { kind: "files", files: [{ path }] } as const;
  await expect(ask(open({ source, thread, memoryMb: 16 }), all)).rejects.toMatchObject({
    code: "ENDPOINT_FAILED",
    cause: { reason: "memory" },
  });
});
