import * as fc from "fast-check";
import { Parser, type Quad } from "n3";
import { describe, expect, it } from "vitest";
import { literalText } from "../../../../src/rdf/term-text.ts";
import { LineScanner } from "../../../../shards/src/load/read-lines.ts";
import type { Visit } from "../../../../shards/src/load/statement.ts";

const skolemBase = "urn:x:";

/** The statements of a text as canonical lines. */
function scanned(text: string | Buffer, graphs = false): string {
  const lines: string[] = [];
  const visit: Visit = ({ bytes: line, start, end }) => {
    lines.push(line.toString("utf8", start, end));
  };
  new LineScanner({ graphs, skolemBase }, visit).scan(Buffer.from(text));
  return lines.join("");
}

function shouldRead(text: string, canonical: string, graphs = false): void {
  it(`reads ${JSON.stringify(text)}`, () => expect(scanned(text, graphs)).toBe(canonical));
}

function shouldRefuse(text: string, reason: RegExp, graphs = false): void {
  it(`refuses ${JSON.stringify(text)}`, () => expect(() => scanned(text, graphs)).toThrow(reason));
}

describe("LineScanner", () => {
  const plain = "<x:s> <x:p> <x:o> .\n";
  shouldRead("", "");
  shouldRead("\n # <x:s> comment\n\t\r\n", "");
  shouldRead(plain, plain);
  shouldRead("<x:s> <x:p> <x:o> .", plain);
  shouldRead("  <x:s>\t<x:p><x:o>.#c\n", plain);
  shouldRead("<x:s> <x:p> <x:o> . \r\n<x:s> <x:p> <x:o> .\r\n", plain + plain);
  shouldRead("<x:s> <x:p> <x:o> .\r# c\r<x:s> <x:p> <x:o> .", plain + plain);
  shouldRead('<x:s> <x:p> "a" .\n', '<x:s> <x:p> "a" .\n');
  shouldRead('<x:s> <x:p> "a"@en-GB .\n', '<x:s> <x:p> "a"@en-gb .\n');
  shouldRead('<x:s> <x:p> "a"^^<x:d> .\n', '<x:s> <x:p> "a"^^<x:d> .\n');
  shouldRead('<x:s> <x:p> "a" ^^\t<x:d> .\n', '<x:s> <x:p> "a"^^<x:d> .\n');
  shouldRead('<x:s> <x:p> "a"  @en .\n', '<x:s> <x:p> "a"@en .\n');
  shouldRead('<x:s> <x:p> "a"^^<http://www.w3.org/2001/XMLSchema#string> .\n', '<x:s> <x:p> "a" .\n');
  shouldRead('<x:s> <x:p> "\\t\\b\\n\\r\\f\\"\\\\" .\n', '<x:s> <x:p> "\\t\\b\\n\\r\\f\\"\\\\" .\n');
  shouldRead(
    '<x:s> <x:p> "\\u0041\\U0001F600\\u0022\\u000a\\\'\\u0001\t" .\n',
    '<x:s> <x:p> "A😀\\"\\n\'\\u0001\\t" .\n',
  );
  shouldRead("<x:\\u0041é> <x:p> <x:o> .\n", "<x:Aé> <x:p> <x:o> .\n");
  shouldRead("_:a.b <x:p> _:é:1.\n", "<urn:x:b:a.b> <x:p> <urn:x:b:é:1> .\n");
  shouldRead('<x:s> <x:p> "o"<x:g>.\n', '<x:s> <x:p> "o" <x:g> .\n', true);
  shouldRead("<x:s> <x:p> <x:o> _:g .\n", "<x:s> <x:p> <x:o> <urn:x:b:g> .\n", true);
  shouldRead(plain, plain, true);

  shouldRefuse("<x:s> <x:p> <x:o>\n", /a dot is expected/);
  shouldRefuse("<x:s> <x:p> <x:o> . <x:s>\n", /behind the dot/);
  shouldRefuse("<x:s> <x:p> .\n", /an object is expected/);
  shouldRefuse("<x:s> <x:p>", /an object is expected/);
  shouldRefuse("<x:s>", /a predicate is expected/);
  shouldRefuse('"s" <x:p> <x:o> .\n', /a subject is expected/);
  shouldRefuse("<x:s> _:p <x:o> .\n", /a predicate is expected/);
  shouldRefuse("<s> <x:p> <x:o> .\n", /absolute/);
  shouldRefuse("<x:s> <x:p> <x:a b> .\n", /U\+0020/);
  shouldRefuse("<x:s> <x:p> <x:a\n", /not closed/);
  shouldRefuse("<x:s> <x:p> <x:a\\u0020b> .\n", /characters that IRIs may not have/);
  shouldRefuse("<x:s> <x:p> <x:a\\n> .\n", /unknown escape/);
  shouldRefuse("<x:s> <x:p> <<( <x:s> <x:p> <x:o> )>> .\n", /triple terms/);
  shouldRefuse('<x:s> <x:p> "a .\n', /literal is not closed/);
  shouldRefuse('<x:s> <x:p> "a\rb" .\n', /literal is not closed/);
  shouldRefuse('<x:s> <x:p> "\\x" .\n', /unknown escape/);
  shouldRefuse('<x:s> <x:p> "\\u00g0" .\n', /unknown escape/);
  shouldRefuse('<x:s> <x:p> "\\ud83d\\ude00" .\n', /stands for no character/);
  shouldRefuse('<x:s> <x:p> "\\U00110000" .\n', /stands for no character/);
  shouldRefuse('<x:s> <x:p> "a"@ .\n', /language tag/);
  shouldRefuse('<x:s> <x:p> "a"@en- .\n', /language tag/);
  shouldRefuse('<x:s> <x:p> "a"@en--ltr .\n', /base direction/);
  shouldRefuse('<x:s> <x:p> "a"^<x:d> .\n', /datatype/);
  shouldRefuse('<x:s> <x:p> "a"^^xsd:d .\n', /datatype/);
  shouldRefuse("<x:s> <x:p> _:-a .\n", /proper label/);
  shouldRefuse("<x:s> <x:p> <x:o> <x:g> .\n", /a dot is expected/);
  shouldRefuse('<x:s> <x:p> <x:o> "g" .\n', /a graph name is expected/, true);

  it("finds what it wrote canonical, and leaves it as it is", () => {
    const text = '_:s <x:p> "\\u0009\\u007F\\u0080"@EN <x:\\u00e9> .\n';
    const once = scanned(text, true);
    expect(once).toBe('<urn:x:b:s> <x:p> "\\t\\u007F\u0080"@en <x:é> .\n');
    expect(scanned(once, true)).toBe(once);
  });

  it("reads a literal of 1 MB", () => {
    const line = `<x:s> <x:p> "${"é\\n".repeat(250_000)}" .\n`;
    expect(scanned(line)).toBe(line);
    expect(scanned(line.replace('é"', '\\u00E9"'))).toBe(line);
  });
});

/** What N3.js reads, as N-Quads with the same blank node names; undefined for what it refuses. */
function parsed(text: string, format: "N-Triples" | "N-Quads"): readonly string[] | undefined {
  try {
    return new Parser({ format, blankNodePrefix: "" }).parse(text).map(lineOf);
  } catch {
    return undefined;
  }
}

function lineOf({ subject, predicate, object, graph }: Quad): string {
  const text = (term: Quad["subject"] | Quad["object"] | Quad["graph"]): string => {
    if (term.termType === "BlankNode") return `<${skolemBase}b:${term.value}>`;
    return term.termType === "Literal" ? literalText(term) : `<${term.value}>`;
  };
  const terms = [subject, predicate, object, ...(graph.termType === "DefaultGraph" ? [] : [graph])];
  return `${terms.map(text).join(" ")} .`;
}

/** What the scanner reads, in the words of `lineOf`: literals are escaped a little differently there. */
function linesOf(text: string, graphs: boolean): readonly string[] | undefined {
  try {
    return new Parser({ format: "N-Quads" }).parse(scanned(text, graphs)).map(lineOf);
  } catch {
    return undefined;
  }
}

describe("LineScanner and N3.js", () => {
  const piece = fc.constantFrom(
    ..."a Z 0 9 é 名 😀 \\u0041 \\u00e9 \\U0001F600 \\n \\t \\\" \\\\ - _ . % & = ' # @ ^ ~".split(" "),
  );
  const rare = fc.constantFrom(
    "\\ud800",
    "\\u004",
    "\\x",
    "\\'",
    "\\",
    '"',
    "<",
    ">",
    " ",
    "\t",
    "\r",
    "{",
    "|",
    "`",
    "\0",
    "\u0085",
    "\u007f",
  );
  const inside = fc.array(fc.oneof({ weight: 40, arbitrary: piece }, { weight: 1, arbitrary: rare }), { maxLength: 8 });
  const body = inside.map((parts) => parts.join(""));
  const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: odd });
  const scheme = mostly(fc.constantFrom("http://e.org/", "urn:x:", "x:", "a+b-c.d:"), fc.constantFrom("", "1:", ":"));
  const iriBody = mostly(
    body.map((text) => text.replaceAll(/\\[nt"\\']|[\^"<>{}|`\s]/g, "")),
    body,
  );
  const iriText = fc.tuple(scheme, iriBody).map((parts) => `<${parts.join("")}>`);
  const label = fc.stringMatching(/^[A-Za-z0-9_é名](?:[A-Za-z0-9_é·-]{0,4}(?:\.[A-Za-z0-9_-]{1,3})?)$/);
  const blank = label.map((text) => `_:${text}`);
  const suffix = mostly(
    fc.oneof(
      fc.constantFrom("", "@en", "@EN-gb", "@de-1996-x", " @en", "^^<http://www.w3.org/2001/XMLSchema#string>"),
      iriText.map((text) => `^^${text}`),
    ),
    fc.constantFrom("@", "@e_n", "@1", "@en-", "^^", "^<x:d>", "^^ <x:d>"),
  );
  const literal = fc.tuple(body, suffix).map(([text, tail]) => `"${text}"${tail}`);
  const gap = fc.constantFrom(" ", " ", " ", " ", "  ", "\t", " \t");
  const node = fc.oneof({ weight: 4, arbitrary: iriText }, { weight: 1, arbitrary: blank });
  const object = fc.oneof(node, literal, literal);
  const end = mostly(fc.constantFrom(".", " .", ". ", ". # c", ".#"), fc.constantFrom("", "..", ". x"));
  const lineEnd = fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\r");
  const lineOf3 = fc.tuple(node, gap, iriText, gap, object, gap, end);
  const lineOf4 = fc.tuple(node, gap, iriText, gap, object, gap, node, end);
  const line = fc
    .oneof({ weight: 3, arbitrary: lineOf3 }, { weight: 1, arbitrary: lineOf4 })
    .map((parts) => parts.join(""));
  const text = fc.array(fc.tuple(line, lineEnd), { maxLength: 2 }).map((lines) => lines.flat().join(""));

  it("read the same statements, and refuse the same texts", () => {
    const seen = { read: 0, refused: 0 };
    const isGraphs = fc.boolean();
    fc.assert(
      fc.property(text, isGraphs, (source, graphs) => {
        const theirs = parsed(source, graphs ? "N-Quads" : "N-Triples");
        if (theirs === undefined) seen.refused += 1;
        else if (theirs.length > 0) seen.read += 1;
        expect(linesOf(source, graphs)).toEqual(theirs);
      }),
      { numRuns: 1_000 },
    );
    process.stdout.write(`${seen.read} texts were read, ${seen.refused} refused\n`);
    expect(seen.read).toBeGreaterThan(100);
    expect(seen.refused).toBeGreaterThan(100);
  });
});
