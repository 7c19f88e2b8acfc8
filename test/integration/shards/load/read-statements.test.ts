import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type InputFormat, namedInputs } from "../../../../shards/src/load/input.ts";
import { readStatements } from "../../../../shards/src/load/read-statements.ts";
import type { Statement } from "../../../../shards/src/load/statement.ts";
import { writeInput } from "../../../support/shard-build.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const folder = newFolder();

async function linesOf(path: string, more: { format?: InputFormat; name?: string } = {}) {
  const lines: string[] = [];
  const [read] = await readStatements(
    namedInputs([{ path, ...more }]),
    ({ bytes, start, end }) => lines.push(bytes.toString("utf8", start, end)),
    { phase: "learn" },
  );
  return { lines, read };
}

const statements = ["<x:a> <x:p> <urn:fedway:genid:in:b:n> .\n", '<urn:fedway:genid:in:b:n> <x:q> "é\\n"@en .\n'];

function shouldRead(name: string, text: string | Buffer, expected: readonly string[] = statements): void {
  it(`reads ${name}`, async () => {
    const { lines } = await linesOf(writeInput(folder, name, text), { name: `in${name.slice(name.indexOf("."))}` });
    expect(lines.map((line) => line.replaceAll(/genid:in\.[a-z.]+:/g, "genid:in:"))).toEqual(expected);
  });
}

const turtle = 'PREFIX x: <x:>\nx:a x:p _:n .\n_:n x:q "é\\n"@EN .\n';
const ntriples = '<x:a> <x:p> _:n .\n_:n <x:q> "é\\n"@EN .';
const rdfXml = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="x:">
<rdf:Description rdf:about="x:a"><x:p rdf:nodeID="n"/></rdf:Description>
<rdf:Description rdf:nodeID="n"><x:q xml:lang="EN">é\n</x:q></rdf:Description></rdf:RDF>`;
const jsonLd = JSON.stringify([
  { "@id": "x:a", "x:p": { "@id": "_:n" } },
  { "@id": "_:n", "x:q": { "@value": "é\n", "@language": "EN" } },
]);

describe("readStatements", () => {
  shouldRead("a.nt", ntriples);
  shouldRead("b.nt", `\ufeff${ntriples}`);
  shouldRead("a.nt.gz", gzipSync(ntriples));
  shouldRead("two.nt.gz", Buffer.concat(ntriples.split(/(?<=\n)/).map((line) => gzipSync(line))));
  shouldRead("a.ttl", turtle);
  shouldRead("a.ttl.gz", gzipSync(turtle));
  shouldRead("a.rdf", rdfXml);
  shouldRead("a.jsonld", jsonLd);
  shouldRead("a.trig", "<x:g> { <x:a> <x:p> 1 } <x:a> <x:p> true .", [
    '<x:a> <x:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <x:g> .\n',
    '<x:a> <x:p> "true"^^<http://www.w3.org/2001/XMLSchema#boolean> .\n',
  ]);
  shouldRead("a.nq", "<x:a> <x:p> <x:o> _:g .\n", ["<x:a> <x:p> <x:o> <urn:fedway:genid:in:b:g> .\n"]);
  shouldRead("anonymous.ttl", "[] <x:p> [ <x:q> _:a ] .", [
    "<urn:fedway:genid:in:a:2> <x:q> <urn:fedway:genid:in:b:a> .\n",
    "<urn:fedway:genid:in:a:1> <x:p> <urn:fedway:genid:in:a:2> .\n",
  ]);
  shouldRead("empty.nt", "", []);

  it("gives blank nodes of other files other IRIs, and the same at each reading", async () => {
    const path = writeInput(folder, "again.ttl", "[] <x:p> _:a .");
    const [first, second, other] = [
      await linesOf(path),
      await linesOf(path),
      await linesOf(path, { name: "o/é .ttl" }),
    ];
    expect(first.lines).toEqual(["<urn:fedway:genid:again.ttl:a:1> <x:p> <urn:fedway:genid:again.ttl:b:a> .\n"]);
    expect(second.lines).toEqual(first.lines);
    expect(other.lines).toEqual([
      "<urn:fedway:genid:o%2F%C3%A9%20.ttl:a:1> <x:p> <urn:fedway:genid:o%2F%C3%A9%20.ttl:b:a> .\n",
    ]);
  });

  it("finds size and checksum of the file", async () => {
    // printf '' | sha256sum
    const { read } = await linesOf(writeInput(folder, "none.nt", ""));
    expect(read).toMatchObject({ bytes: 0, sha256: expect.stringMatching(/^e3b0c44298fc1c14/) });
  });

  it("reads literals of 10 MB in lines and in Turtle", async () => {
    const text = "0123456789é".repeat(900_000);
    for (const name of ["long.nt", "long.ttl", "long.nt.gz"]) {
      const line = `<x:a> <x:p> "${text}" .\n`;
      const { lines } = await linesOf(writeInput(folder, name, name.endsWith(".gz") ? gzipSync(line) : line));
      expect(lines.length).toBe(1);
      expect(lines[0] === line).toBe(true);
    }
  });

  it("finds the same statements wherever chunks end", async () => {
    // Lines of 1 to 997 bytes shift against the chunks; characters of two and four bytes are cut.
    const lines = Array.from({ length: 5_000 }, (_, index) => `<x:${index}> <x:p> "${"é😀".repeat(index % 160)}" .\n`);
    const found = await linesOf(writeInput(folder, "chunks.nt", lines.join("")));
    expect(found.lines.length).toBe(5_000);
    expect(found.lines.join("") === lines.join("")).toBe(true);
  });

  const canonical =
    '<x:a> <x:p> <x:o> .\n<x:a> <x:p> "é 😀 \\n > < ." .\n<x:b> <x:q> "a b"@en .\n<x:b> <x:q> " "^^<x:d> .\n';

  it("reads the same the second time", async () => {
    const path = writeInput(folder, "canonical.nt", canonical);
    const passes: (readonly unknown[])[][] = [[], []];
    let inputs: Parameters<typeof readStatements>[0] = namedInputs([{ path }]);
    for (const pass of passes) {
      const visit = ({ bytes, start, subjectEnd, predicateEnd, objectEnd, end }: Statement) =>
        pass.push([bytes.toString("utf8", start, end), subjectEnd - start, predicateEnd - start, objectEnd - start]);
      inputs = await readStatements(inputs, visit, { phase: "learn" });
    }
    expect(passes[0]?.map(([line]) => line).join("")).toBe(canonical);
    expect(passes[1]).toEqual(passes[0]);
    writeFileSync(path, canonical.replace("x:o", "x:z"));
    await expect(readStatements(inputs, () => {}, { phase: "split" })).rejects.toThrow(/was changed/);
  });

  for (const [what, text] of Object.entries({
    "a comment": `${canonical}# c\n`,
    "an empty line": `${canonical}\n${canonical}`,
    "a space in front": ` ${canonical}`,
    "no line feed at the end": canonical.slice(0, -1),
    "a carriage return": canonical.replace("\n", "\r\n"),
    "an escape that is not needed": canonical.replace("é", "\\u00e9"),
    "a byte order mark": `\ufeff${canonical}`,
    "two spaces": canonical.replace("> <", ">  <"),
  })) {
    it(`makes lines canonical that are not because of ${what}`, async () => {
      const { lines } = await linesOf(writeInput(folder, "not.nt", text));
      expect(lines.slice(0, 4).join("")).toBe(canonical);
    });
  }

  it("ends when the signal is aborted", async () => {
    const path = writeInput(folder, "abort.nt", ntriples);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    await expect(readStatements(namedInputs([{ path }]), () => {}, { phase: "learn", signal })).rejects.toBe(reason);
  });

  it("notices that a file is not what it was", async () => {
    const path = writeInput(folder, "changed.nt", ntriples);
    const found = { path, name: "changed.nt", format: "n-triples" as const, bytes: 1, sha256: "0" };
    await expect(readStatements([found], () => {}, { phase: "split" })).rejects.toThrow(
      /changed\.nt: the file was changed/,
    );
  });
});

function shouldRefuse(name: string, text: string | Buffer, message: RegExp, line?: number): void {
  it(`refuses ${name}`, async () => {
    const failure = await linesOf(writeInput(folder, name, text)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "DATASET_INVALID", message: expect.stringMatching(message) });
    expect((failure as { details: unknown }).details).toMatchObject(line === undefined ? {} : { where: { line } });
  });
}

describe("readStatements of many chunks", () => {
  /** Lines of all lengths, one of them longer than two chunks of a file. */
  const lengths = Array.from({ length: 900 }, (_, at) => (at === 400 ? 700_000 : (at * 7_919) % 3_000));
  const long = lengths.map((length, at) => `<x:s${at}> <x:p> "${"é".repeat(length / 2)}" .\n`);
  const text = long.join("");

  it.each<[string, string | Buffer]>([
    ["canonical.nt", text],
    ["marked.nt", `\uFEFF${text}`],
    ["feeds.nt", text.replaceAll("\n", "\r\n")],
    ["open.nt", text.slice(0, -1)],
    ["packed.nt.gz", gzipSync(text)],
  ])("finds each line once: %s", async (name, content) => {
    expect(Buffer.byteLength(text)).toBeGreaterThan(1_500_000);
    expect((await linesOf(writeInput(folder, name, content))).lines).toEqual(long);
  });

  it("counts the lines in front of a fault", async () => {
    const path = writeInput(folder, "fault.nt", `${text}${text}nonsense\n${text}`);
    await expect(linesOf(path)).rejects.toMatchObject({ code: "DATASET_INVALID", details: { where: { line: 1_801 } } });
  });
});

describe("readStatements of what is broken", () => {
  shouldRefuse("dot.nt", "<x:a> <x:p> <x:o> .\n\n<x:a> <x:p> <x:o>\n", /^dot\.nt, line 3: a dot is expected\.$/, 3);
  shouldRefuse(
    "late.nt",
    `${"<x:a> <x:p> <x:o> .\n".repeat(50_000)}<x:a>`,
    /^late\.nt, line 50001: a predicate/,
    50_001,
  );
  shouldRefuse("graph.nt", "<x:a> <x:p> <x:o> <x:g> .\n", /line 1: a dot is expected/, 1);
  const notUtf8 = Buffer.concat([
    Buffer.from('<x:a> <x:p> "a" .\n<x:a> <x:p> "'),
    Buffer.from([0xed, 0xa0, 0x80, 0x22]),
  ]);
  shouldRefuse("bytes.nt", notUtf8, /line 2: this is not UTF-8 text/, 2);
  shouldRefuse("short.nt.gz", gzipSync(ntriples).subarray(0, -9), /short\.nt\.gz: the gzip is cut off/);
  shouldRefuse("head.nt.gz", gzipSync(ntriples).subarray(0, 5), /head\.nt\.gz: the gzip is cut off/);
  const damaged = gzipSync(ntriples);
  damaged[20] = 0xff;
  damaged[21] = 0xff;
  shouldRefuse("damaged.nt.gz", damaged, /damaged\.nt\.gz: the gzip is damaged/);
  shouldRefuse("short.ttl.gz", gzipSync(turtle).subarray(0, -9), /the gzip is cut off/);
  shouldRefuse("a.broken.ttl", "<x:a> <x:p> <x:o> .\n<x:a> <x:p> .\n", /line 2: Expected entity/, 2);
  shouldRefuse("relative.ttl", "<a> <b> <c> .", /not absolute|Invalid|relative/i);
  shouldRefuse("prefix.ttl", "\nx:a x:p x:o .\n", /line 2: Undefined prefix/, 2);
  shouldRefuse("open.ttl", "<x:a> <x:p> <x:o>", /line 1: /, 1);
  shouldRefuse("open.rdf", rdfXml.slice(0, -12), /open\.rdf, line \d+: /);
  shouldRefuse("open.jsonld", jsonLd.slice(0, -3), /open\.jsonld, line 1: /);
  shouldRefuse("remote.jsonld", '{"@context":"http://127.0.0.1:1/","@id":"x:a"}', /remote context/);
  shouldRefuse("entity.rdf", `<!DOCTYPE a [<!ENTITY b "c">]>${rdfXml}`, /entity\.rdf, line 1: .*document type/);
  shouldRefuse("direction.nt", '<x:a> <x:p> "a"@ar--rtl .\n', /line 1: a literal with a base direction is not read/, 1);
  shouldRefuse("tag.nt", '<x:a> <x:p> "a"@en_US .\n', /line 1: @en_US is not a language tag/, 1);
  const tripleTerm = "<x:a> <x:p> <<( <x:a> <x:p> <x:o> )>>";
  shouldRefuse("terms.nt", `${tripleTerm} .`, /line 1: an IRI is expected; triple terms are not read/, 1);
  shouldRefuse("terms.nq", `${tripleTerm} <x:g> .`, /line 1: an IRI is expected; triple terms are not read/, 1);
  shouldRefuse("terms.ttl", `${tripleTerm} .`, /a triple term is not read/);
  shouldRefuse("terms.trig", `<x:g> { ${tripleTerm} }`, /a triple term is not read/);
  shouldRefuse("reifier.ttl", "<x:a> <x:p> <x:o> {| <x:q> 1 |} .", /a triple term is not read/);
  shouldRefuse("tag.ttl", '<x:a> <x:p> "a"@en_US .', /@en_us is not a language tag/);
  shouldRefuse("tag.trig", '<x:g> { <x:a> <x:p> "a"@en_US }', /@en_us is not a language tag/);
  const directed = /a literal with a base direction is not read/;
  shouldRefuse("direction.ttl", '<x:a> <x:p> "a"@ar--rtl .', directed);
  shouldRefuse("direction.trig", '<x:g> { <x:a> <x:p> "a"@ar--rtl }', directed);
  const value = '{"@value":"a","@language":"ar","@direction":"rtl"}';
  shouldRefuse("direction.jsonld", `{"@id":"x:a","x:p":${value}}`, directed);
  const rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="x:" rdf:version="1.2"';
  const about = (content: string): string =>
    `<rdf:RDF ${rdf}><rdf:Description rdf:about="x:a">${content}</rdf:Description></rdf:RDF>`;
  shouldRefuse("tag.rdf", about('<p xml:lang="en_US">a</p>'), /@en_us is not a language tag/i);
  shouldRefuse("iri.rdf", about('<p rdf:resource="urn:a b"/>'), /"urn:a b" has characters that IRIs may not have/);
  const inner = '<rdf:Description rdf:about="x:a"><p rdf:resource="x:o"/></rdf:Description>';
  shouldRefuse("terms.rdf", about(`<p rdf:parseType="Triple">${inner}</p>`), /a triple term is not read/);
  const element = '<p xml:lang="ar" xmlns:its="http://www.w3.org/2005/11/its" its:dir="rtl">a</p>';
  shouldRefuse("direction.rdf", about(element), directed);

  it("refuses files that are not there, folders, unknown endings and two of one name", async () => {
    mkdirSync(join(folder, "folder.nt"));
    await expect(linesOf(join(folder, "folder.nt"))).rejects.toThrow(/folder\.nt: this is not a file/);
    await expect(linesOf(join(folder, "missing.nt"))).rejects.toThrow(/missing\.nt: the file cannot be read/);
    await expect(linesOf(join(folder, "data.csv"))).rejects.toThrow(/ending of data\.csv does not show its format/);
    expect(() => namedInputs([{ path: "a/x.nt" }, { path: "b/x.nt" }])).toThrow(/Two input files are called x\.nt/);
  });
});
