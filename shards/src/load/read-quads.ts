import type * as RDF from "@rdfjs/types";
import type { FedwayError } from "../../../src/errors/fedway-error.ts";
import { isReadableTag, tagOf } from "../../../src/rdf/term-text.ts";
import { dataFactory } from "../../../src/rdf/triple-index.ts";
import type { GraphDecoder, GraphDecoderOptions } from "../../../src/results/answer-reader.ts";
import { graphDecoders } from "../../../src/results/parse.ts";
import { invalidInput, type InputFormat, type NamedInput, skolemBase, skolemLabel, skolemNumber } from "./input.ts";
import { SyntaxFault } from "./parse-line.ts";
import { type FileFacts, InputBytes, LeftOut, type ReadOptions } from "./read-bytes.ts";
import { canonicalString, isAbsoluteIri, type Statement, statementOf, type Visit } from "./statement.ts";

/** Bytes that a parser may take without giving a statement: it holds them in memory. */
const maxHeldBytes = 64 * 1024 * 1024;
/** Small pieces bound what a parser gives at once, and locate its errors. */
const pieceBytes = 32 * 1024;

const xsdString = "http://www.w3.org/2001/XMLSchema#string";

type Factory = (options: GraphDecoderOptions) => GraphDecoder;

const decoders: Readonly<Record<Exclude<InputFormat, "n-triples" | "n-quads">, Factory>> = {
  turtle: graphDecoders.turtle,
  trig: graphDecoders.trig,
  "rdf-xml": graphDecoders.rdfxml,
  "json-ld": graphDecoders.jsonld,
};

/**
 * Reads Turtle, TriG, RDF/XML or JSON-LD. Where bad lines are to be skipped, statements with bad terms are: a fault of the grammar
 * leaves nothing that could be read behind it.
 * @throws FedwayError `DATASET_INVALID` with the number of the line, as near as the parser reports it
 */
export async function readQuads(input: NamedInput, visit: Visit, options: ReadOptions): Promise<FileFacts> {
  if (input.format === "n-triples" || input.format === "n-quads") throw new TypeError("lines are read by readLines");
  const decoder = decoders[input.format]({ factory: skolemisingFactory(), keepLabels: true });
  const bad = new LeftOut();
  const parsing = { input, decoder, base: skolemBase(input.name), place: { line: 1, heldBytes: 0 }, bad };
  const bytes = new InputBytes(input, options);
  for await (const chunk of bytes.chunks()) {
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      for (const statement of await statementsOf(chunk.subarray(at, at + pieceBytes), parsing)) visit(statement);
    }
    await options.afterChunk?.();
  }
  for (const statement of await statementsOf(undefined, parsing)) visit(statement);
  return { ...bytes.facts(), badLines: bad.badLines };
}

interface Parsing {
  readonly input: NamedInput;
  readonly decoder: GraphDecoder;
  readonly base: string;
  readonly place: { line: number; heldBytes: number };
  readonly bad: LeftOut;
}

/** Statements of a piece, or of the end of the file. */
async function statementsOf(piece: Buffer | undefined, parsing: Parsing): Promise<Iterable<Statement>> {
  const { decoder, place, input } = parsing;
  try {
    const quads = await (piece === undefined ? decoder.end() : decoder.push(piece));
    const lines = quads.flatMap((quad) => statementIn(quad, parsing) ?? []);
    place.line += piece === undefined ? 0 : linesIn(piece);
    place.heldBytes = quads.length > 0 || piece === undefined ? 0 : place.heldBytes + piece.length;
    if (place.heldBytes > maxHeldBytes) throw new Error(`there is no statement in ${maxHeldBytes} bytes`);
    return lines;
  } catch (error) {
    throw asSyntaxError(input, error, place.line);
  }
}

/** Undefined for one that is left out. @throws SyntaxFault */
function statementIn(quad: RDF.Quad, { base, bad, input, place }: Parsing): Statement | undefined {
  try {
    return statementOfQuad(quad, base);
  } catch (error) {
    if (input.skipBadLines !== true || !(error instanceof SyntaxFault)) throw error;
    bad.add(place.line, `${error.message} (at or behind this line)`);
    return undefined;
  }
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines += 1;
  return lines;
}

/** Blank nodes get the name that stands behind the input's skolem base. */
function skolemisingFactory(): RDF.DataFactory {
  let anonymous = 0;
  const blankNode = (label?: string): RDF.BlankNode => {
    if (label !== undefined) return dataFactory.blankNode(skolemLabel(label));
    anonymous += 1;
    return dataFactory.blankNode(skolemNumber(anonymous));
  };
  return { ...dataFactory, blankNode };
}

/** The statement of a quad. @param base see `skolemBase` */
function statementOfQuad({ subject, predicate, object, graph }: RDF.Quad, base: string): Statement {
  const terms = [subject, predicate, object, ...(graph.termType === "DefaultGraph" ? [] : [graph])];
  return statementOf(terms.map((term) => termText(term, base)));
}

/** A term, canonical. @throws SyntaxFault for one that no line may hold */
export function termText(term: RDF.Term, base: string): string {
  if (term.termType === "NamedNode") return iri(term.value);
  if (term.termType === "BlankNode") return `<${base}${term.value}>`;
  if (term.termType === "Literal") return literal(term);
  throw new SyntaxFault("a triple term is not read");
}

function iri(value: string): string {
  if (isAbsoluteIri(value)) return `<${value}>`;
  throw new SyntaxFault(`the IRI <${value.slice(0, 200)}> is not absolute or has characters that IRIs may not have`);
}

function literal(term: RDF.Literal): string {
  if (!term.value.isWellFormed()) throw new SyntaxFault("a literal has half of a surrogate pair");
  const value = canonicalString(term.value);
  if (term.direction) {
    throw new SyntaxFault("a literal with a base direction is not read");
  }
  if (term.language !== "") {
    const tag = tagOf(term);
    if (isReadableTag(tag)) return `${value}@${tag}`;
    throw new SyntaxFault(`@${term.language.slice(0, 100)} is not a language tag`);
  }
  return term.datatype.value === xsdString ? value : `${value}^^${iri(term.datatype.value)}`;
}

/** Messages of decoders speak of an endpoint's answer, and some give a line. */
function asSyntaxError(input: NamedInput, error: unknown, line: number): FedwayError {
  const message = error instanceof Error ? error.message : "it cannot be read";
  const reason = message.replace(/^The endpoint's \S+ answer (?:is malformed: )?/u, "").replace(/\.$/u, "");
  const named = /^(.*?) on line (\d{1,9})$/su.exec(reason);
  const isAt = named === null ? {} : { line: Number(named[2]) };
  const text = named === null ? `${reason} (at or behind line ${line})` : (named[1] ?? reason);
  const isGrammar = input.skipBadLines === true && !(error instanceof SyntaxFault);
  const more = isGrammar ? "; of such a file only statements with bad terms can be left out" : "";
  return invalidInput(input.name, `${text}${more}`, { line, ...isAt, cause: error });
}
