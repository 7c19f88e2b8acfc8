import type { FastifyInstance } from "fastify";
import { FedwayError } from "../errors/fedway-error.ts";
import { requestFault } from "../results/json-structure.ts";
import { utf8Text } from "./protocol-operation.ts";

/** Teaches `app` to read JSON: it must be UTF-8, of bounded depth and width, and may not smuggle prototypes in. */
export function addJsonBodies(app: FastifyInstance, mediaType: string): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser(mediaType, { parseAs: "buffer" }, (request, bytes: Buffer, done) => {
    try {
      const fault = requestFault(bytes);
      if (fault !== undefined) throw new FedwayError("REQUEST_INVALID", fault, { next: "Send one JSON object." });
      void parse(request, utf8Text(bytes, "The body"), done);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}
