import type { FastifyInstance, FastifyRequest } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { type ProtocolBody, queryTooLarge } from "./protocol-operation.ts";

/** Room in a form for everything beside the query. */
const otherParametersBytes = 65_536;

function refuseForeignEncoding({ headers }: FastifyRequest): void {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1];
  if (charset && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new FedwayError("QUERY_ENCODING", `The query is sent as ${charset.slice(0, 32)}; only UTF-8 is read.`);
  }
  const coding = headers["content-encoding"];
  if (coding && coding !== "identity") {
    throw new FedwayError("MEDIA_TYPE_UNSUPPORTED", "Compressed request bodies are not read.", {
      next: "Send the body without Content-Encoding.",
    });
  }
}

/** A refused body in the words of these routes: it was the query that was too large. */
export function protocolError(error: unknown, maxQueryBytes: number): unknown {
  const large = error instanceof Error && "code" in error && error.code === "FST_ERR_CTP_BODY_TOO_LARGE";
  return large ? queryTooLarge(maxQueryBytes) : error;
}

/** Teaches `app` the two request media types of the SPARQL Protocol, and to name updates what they are. */
export function addProtocolBodies(app: FastifyInstance, maxQueryBytes: number): void {
  app.removeAllContentTypeParsers();
  const read = (mediaType: string, form: ProtocolBody["form"], bodyLimit: number): void => {
    app.addContentTypeParser(mediaType, { parseAs: "buffer", bodyLimit }, (request, bytes: Buffer, done) => {
      try {
        refuseForeignEncoding(request);
        done(null, { form, bytes });
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    });
  };
  read("application/sparql-query", "direct", maxQueryBytes);
  // Percent-encoding makes of one byte at most three.
  read("application/x-www-form-urlencoded", "urlencoded", maxQueryBytes * 3 + otherParametersBytes);
  app.addContentTypeParser("application/sparql-update", (_request, _payload, done) => {
    done(new FedwayError("UPDATE_REFUSED", "Fedway answers queries; updates are never passed on."));
  });
}
