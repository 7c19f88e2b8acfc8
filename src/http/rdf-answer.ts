import type * as RDF from "@rdfjs/types";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogDocument } from "../registry/catalog/catalog.ts";
import { writeDocument } from "../registry/catalog/parse-document.ts";
import { writeTurtle } from "../rdf/write-turtle.ts";
import type { ResultFormat } from "../results/formats.ts";
import { type FormatWish, negotiateFormat } from "../results/negotiation.ts";
import { serializeResult } from "../results/serialize.ts";
import { anyOriginHeaders } from "./common-headers.ts";

/** What a client gets of a document: its fields as JSON, or its RDF. */
export type DocumentFormat = "fields" | ResultFormat;

/** What a request says about the format that it wants. */
export function wishOf(request: {
  readonly query: { readonly format?: string };
  readonly headers: { readonly accept?: string | undefined };
}): FormatWish {
  const { accept } = request.headers;
  return { ...request.query, ...(accept !== undefined && { accept }) };
}

const maxAcceptLength = 4_096;
const maxRanges = 64;

/**
 * The format of a document by the parameter `format`, else by Accept; fields as JSON where nothing else is wanted more.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function documentFormat({ format, accept }: FormatWish): DocumentFormat {
  if (format !== undefined && format !== "") {
    return isJson(format) || format === "json" ? "fields" : graphFormat({ format });
  }
  for (const range of acceptedRanges(accept ?? "*/*")) {
    if (isJson(range)) return "fields";
    const found = negotiateFormat("quads", { accept: range });
    if (found !== undefined) return found;
  }
  throw notAcceptable();
}

/** The RDF format that a client wants. @throws FedwayError `NOT_ACCEPTABLE` */
export function graphFormat(wish: FormatWish): ResultFormat {
  const found = negotiateFormat("quads", wish);
  if (found === undefined) throw notAcceptable();
  return found;
}

const notAcceptable = (): FedwayError =>
  new FedwayError("NOT_ACCEPTABLE", "None of the wanted formats is written here.", {
    next: "Use application/json, text/turtle, application/n-triples or application/ld+json.",
  });

const isJson = (range: string): boolean => /^(?:application\/(?:json|\*)|\*\/\*)$/i.test(range.trim());

/** Media ranges, the most wanted first, without those that are not wanted (RFC 9110, section 12.5.1). */
function acceptedRanges(accept: string): readonly string[] {
  const ranges = accept.slice(0, maxAcceptLength).split(",", maxRanges).map(readRange);
  return ranges
    .filter(({ range, weight }) => range !== "" && weight > 0)
    .toSorted((left, right) => right.weight - left.weight)
    .map(({ range }) => range);
}

function readRange(text: string): { readonly range: string; readonly weight: number } {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => /^q=[\d.]{1,5}$/i.test(parameter));
  return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
}

/** An etag as header fields write it. */
export const etagHeader = (etag: string): string => `"${etag}"`;

/** Answers with the whole RDF of one document. */
export async function sendDocument(
  reply: FastifyReply,
  { quads, etag }: CatalogDocument,
  { format, baseUrl }: { readonly format: ResultFormat; readonly baseUrl: string },
): Promise<FastifyReply> {
  const body = format.name === "turtle" ? turtleOf(quads, baseUrl) : await textOf(quads, format);
  return (
    reply
      .headers({ ...anyOriginHeaders, ETag: etagHeader(etag), Vary: "Accept" })
      .type(format.contentType)
      // For texts the framework would add a charset that the format has not.
      .send(Buffer.from(body))
  );
}

/** Answers with triples that any origin may read; Turtle is written tidily. */
export async function sendQuads(
  reply: FastifyReply,
  quads: readonly RDF.Quad[],
  format: ResultFormat,
): Promise<FastifyReply> {
  const body = format.name === "turtle" ? writeTurtle(quads) : await textOf(quads, format);
  return (
    reply
      .headers({ ...anyOriginHeaders, Vary: "Accept" })
      .type(format.contentType)
      // As bytes, to whose media type the framework adds nothing.
      .send(Buffer.from(body))
  );
}

/** The writer leaves IRIs of this service relative; whoever reads the answer has to know to what. */
function turtleOf(quads: readonly RDF.Quad[], baseUrl: string): string {
  const base = `${baseUrl}/`;
  const isOwn = (term: RDF.Term): boolean => term.termType === "NamedNode" && term.value.startsWith(base);
  const hasOwn = quads.some(({ subject, predicate, object }) => [subject, predicate, object].some(isOwn));
  return `${hasOwn ? `@base <${base}> .\n` : ""}${writeDocument(quads, baseUrl)}`;
}

async function textOf(quads: readonly RDF.Quad[], format: ResultFormat): Promise<string> {
  const chunks: Buffer[] = [];
  const source = serializeResult({ kind: "quads", quads: Readable.from(quads) }, format);
  for await (const chunk of source) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}
