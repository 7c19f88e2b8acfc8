import type * as RDF from "@rdfjs/types";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { turtleSyntaxError } from "../rdf/turtle.ts";
import { maxDocumentBytes } from "../registry/catalog/catalog-files.ts";
import { reasonOf } from "../registry/catalog/catalog-problem.ts";
import { maxDocumentQuads } from "../registry/catalog/parse-document.ts";
import { parseAnswer } from "../results/parse.ts";
import { utf8Text } from "./form-parameters.ts";

/** Bytes of the body of a change. */
export const maxBodyBytes = maxDocumentBytes;

/** A catalogue document as it was sent; told apart from the JSON of simple fields by its class. */
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
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/merge-patch+json", { parseAs: "string" }, parse);
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

/**
 * The triples of a document that was sent; relative IRIs are this service's own.
 * @throws FedwayError `ENTRY_INVALID`, for syntax errors in Turtle with `where.line`
 */
export async function documentQuads({ mediaType, text }: RdfBody, baseUrl: string): Promise<readonly RDF.Quad[]> {
  const quads: RDF.Quad[] = [];
  const baseIri = `${baseUrl}/`;
  try {
    const result = await parseAnswer(oneChunk(text), { mediaType, kind: "quads", baseIri, check: parseDeadline() });
    for await (const quad of result.kind === "quads" ? result.quads : []) {
      quads.push(quad);
      // One more than allowed is enough to be refused for it.
      if (quads.length > maxDocumentQuads) break;
    }
  } catch (error) {
    if (!(error instanceof FedwayError)) throw error;
    const isTurtleSyntax = mediaType === "text/turtle" && error.cause !== undefined;
    const problem = isTurtleSyntax ? turtleSyntaxError(error.cause) : error;
    const { where } = problem.details;
    throw new FedwayError("ENTRY_INVALID", inOurWords(reasonOf(problem)), { ...(where && { where }) });
  }
  return quads;
}

/** A megabyte of real JSON-LD takes two seconds at most. */
const longestParseMs = 10_000;

function parseDeadline(): () => void {
  const endsMs = performance.now() + longestParseMs;
  return () => {
    if (performance.now() > endsMs) throw new FedwayError("ENTRY_INVALID", "The document takes too long to read.");
  };
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** The reader of answers thinks that an endpoint sent the document. */
function inOurWords(reason: string): string {
  const context = /answer needs the remote context (.*)$/.exec(reason)?.[1];
  if (context !== undefined) return `The JSON-LD document needs the remote context ${context}`;
  return reason.replace(/^The endpoint's (JSON-LD|Turtle) answer/, "The $1 document");
}
