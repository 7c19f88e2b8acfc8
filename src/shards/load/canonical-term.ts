import { LineScanner } from "./line-scanner.ts";
import type { Visit } from "./statement.ts";
import { SyntaxFault } from "./syntax-fault.ts";

const head = "<x:s> <x:p> ";

/** A term in N-Triples syntax as the reader of statements writes it; undefined for what is no IRI or literal. */
export function canonicalTerm(text: string): string | undefined {
  if (text.startsWith("_:") || /[\r\n]/u.test(text)) return undefined;
  let found: string | undefined;
  const visit: Visit = ({ bytes, predicateEnd, objectEnd }) => {
    found = bytes.toString("utf8", predicateEnd + 1, objectEnd);
  };
  const line = Buffer.from(`${head}${text} .\n`);
  try {
    new LineScanner({ graphs: false, skolemBase: "", visit }).scan(line, 0, line.length);
  } catch (error) {
    if (!(error instanceof SyntaxFault)) throw error;
  }
  return found;
}
