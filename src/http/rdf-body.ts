import type * as RDF from "@rdfjs/types";
import type { FastifyInstance, FastifyRequest, FastifyReply } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { type CatalogDocument, documentBounds, writeDocument } from "../registry/catalog.ts";
import { addJsonBodies } from "./request-validator.ts";
import { utf8Text } from "./protocol-operation.ts";
import { Readable } from "node:stream";
import { writeTurtle } from "../rdf/write-turtle.ts";
import type { ResultFormat } from "../results/formats.ts";
import { formatNamed, type FormatParameters, negotiateFormat, weightedList } from "../results/negotiation.ts";
import { serializeGraph, serializeResult } from "../results/serialize.ts";
import { anyOriginHeaders, flat } from "./common-headers.ts";
import type { HttpShell } from "./http-deps.ts";
import { sendAnswer } from "./send-answer.ts";

/** Bytes of the body of a change. */
export const maxBodyBytes = documentBounds.maxBytes;

/** A catalogue document as it was sent; its class distinguishes it from the JSON of simple fields. */
export class RdfBody {
  readonly mediaType: "text/turtle" | "application/ld+json";
  readonly text: string;

  constructor(mediaType: RdfBody["mediaType"], text: string) {
    this.mediaType = mediaType;
    this.text = text;
  }
}

/** Teaches `app`, which reads JSON already, the media types of catalogue documents and of JSON Merge Patch (RFC 7396). */
export function addDocumentBodies(app: FastifyInstance): void {
  for (const mediaType of ["text/turtle", "application/ld+json"] as const) {
    app.addContentTypeParser(mediaType, { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer) => {
      refuseForeignEncoding(request);
      return new RdfBody(mediaType, utf8Text(bytes, "The body"));
    });
  }
  addJsonBodies(app, "application/merge-patch+json");
}

function refuseForeignEncoding({ headers }: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1];
  const coding = headers["content-encoding"] ?? "identity";
  if (coding === "identity" && (charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset))) return;
  throw new FedwayError("MEDIA_TYPE_UNSUPPORTED", "Documents are read as plain UTF-8 only.", {
    next: "Send the body in UTF-8 and without Content-Encoding.",
  });
}

/** A refused body in the words of these routes. */
export function bodyError(error: unknown): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new FedwayError("REQUEST_TOO_LARGE", `The body is larger than ${maxBodyBytes} bytes.`);
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new FedwayError(
      "MEDIA_TYPE_UNSUPPORTED",
      "The Content-Type of the body is missing or is none of a document.",
      {
        next: "Send application/json, text/turtle or application/ld+json.",
      },
    );
  }
  return error;
}

/** Format of a document: its fields as JSON, or its RDF. */
type DocumentFormat = "fields" | ResultFormat;

/** Format parameters of a request. */
export const requestedFormat = (request: {
  readonly query: { readonly format?: string };
  readonly headers: { readonly accept?: string | undefined };
}): FormatParameters => ({ format: request.query.format, accept: request.headers.accept });

/**
 * The format of a document by the parameter `format`, else by Accept; fields as JSON unless another format is preferred.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function documentFormat({ format, accept }: FormatParameters): DocumentFormat {
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
export function graphFormat({ format = "", accept }: FormatParameters): ResultFormat {
  const found = format === "" ? negotiateFormat("quads", { accept }) : formatNamed(format, "quads");
  if (found === undefined) throw notAcceptable();
  return found;
}

/** True if a page for people is preferred to any RDF format, as browsers do. */
export function prefersPage(accept: string | undefined): boolean {
  const ranges = acceptedRanges(accept ?? "");
  const first = ranges.find((range) => isPage(range) || negotiateFormat("quads", { accept: range }) !== undefined);
  return first !== undefined && isPage(first);
}

const isPage = (range: string): boolean => /^(?:text\/html|application\/xhtml\+xml)$/i.test(range);

const notAcceptable = (): FedwayError =>
  new FedwayError("NOT_ACCEPTABLE", "None of the wanted formats is written here.", {
    next: "Use application/json, text/turtle, application/n-triples, application/ld+json or application/rdf+xml.",
  });

const isJson = (range: string): boolean => /^(?:application\/(?:json|\*)|\*\/\*)$/i.test(range.trim());

/** Media ranges, the most wanted first, without those that are not wanted. */
const acceptedRanges = (accept: string): readonly string[] =>
  weightedList(accept)
    .filter(({ weight }) => weight > 0)
    .toSorted((left, right) => right.weight - left.weight)
    .map(({ name }) => name);

/** An etag as header fields write it. */
export const etagHeader = (etag: string): string => `"${etag}"`;

/** Answers with the whole RDF of one document. */
export const sendDocument = (
  reply: FastifyReply,
  { quads, etag }: CatalogDocument,
  { format, baseUrl }: { readonly format: ResultFormat; readonly baseUrl: string },
): Promise<FastifyReply> =>
  sendRdf(reply.header("ETag", etagHeader(etag)), format, () =>
    format.name === "turtle" ? turtleOf(quads, baseUrl) : textOf(quads, format),
  );

/** Answers with triples that any origin may read; Turtle is written tidily. */
export const sendQuads = (
  reply: FastifyReply,
  quads: readonly RDF.Quad[],
  format: ResultFormat,
): Promise<FastifyReply> =>
  sendRdf(reply, format, () => (format.name === "turtle" ? writeTurtle(quads) : textOf(quads, format)));

type Prefixes = Parameters<typeof serializeGraph>[2];

/** Answers with triples as they come, which any origin may read; who makes them lets others have their turn. */
export async function sendQuadStream(
  reply: FastifyReply,
  quads: AsyncIterable<RDF.Quad>,
  format: ResultFormat,
  { sendProblem, prefixes = new Map() }: Pick<HttpShell, "sendProblem"> & { readonly prefixes?: Prefixes },
): Promise<void> {
  const headers = flat({ ...anyOriginHeaders, Vary: "Accept, Accept-Encoding", "Content-Type": format.contentType });
  const body = serializeGraph(quads, format, prefixes);
  await sendAnswer(reply, { headers, contentEncoding: "identity", body }, (error) => sendProblem(reply, error));
}

/** Answers with Turtle that was written already. */
export const sendTurtle = (reply: FastifyReply, text: string, turtle: ResultFormat): Promise<FastifyReply> =>
  sendRdf(reply, turtle, () => `${text}\n`);

async function sendRdf(
  reply: FastifyReply,
  { contentType }: ResultFormat,
  write: () => string | Promise<string>,
): Promise<FastifyReply> {
  // As bytes: for texts the framework would add a charset that the format has not.
  const body = Buffer.from(await write());
  return reply
    .headers({ ...anyOriginHeaders, Vary: "Accept" })
    .type(contentType)
    .send(body);
}

/** The writer leaves IRIs of this service relative, so the answer declares their base. */
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
