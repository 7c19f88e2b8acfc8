import type * as RDF from "@rdfjs/types";
import { bytesOf } from "../../results/gathered-body.ts";
import { parseAnswer } from "../../results/parse.ts";
import type { AnswerEnd, SparqlClient } from "../../outbound/sparql-client.ts";
import type { Peer } from "../../workers/peer.ts";
import type { SourceDocuments } from "../sources/document-client.ts";
import type { DocumentHead, DocumentParams, QueryHead, QueryParams } from "./protocol.ts";

/** The parent's SPARQL client, seen from an evaluator: the address guard, rates and breakers stay in one place. */
export function createRemoteClient(peer: Peer, now: () => number): SparqlClient {
  return {
    async query({ signal, deadlineMs, trace, ...request }) {
      const params: QueryParams = { ...request, run: runOf(trace), timeoutMs: Math.max(0, deadlineMs - now()) };
      const { head, body, end } = await peer.call<QueryHead, AnswerEnd>("query", params, { signal });
      return { ...head, body, whole: undefined, end };
    },
    close: async () => {},
  };
}

/** The parent's document client. Documents are parsed here: what they cost is not the parent's. */
export function createRemoteDocuments(peer: Peer): SourceDocuments {
  return {
    async fetch({ signal, trace, maxQuads, ...request }) {
      const params: DocumentParams = { ...request, run: runOf(trace) };
      const { head, body } = await peer.call<DocumentHead, unknown>("document", params, { signal });
      const { url, mediaType } = head;
      let bytes = 0;
      async function* counted(): AsyncIterable<Uint8Array> {
        for await (const piece of bytesOf(body)) {
          bytes += piece.length;
          yield piece;
        }
      }
      const limits = { maxRows: maxQuads };
      const check = (): void => signal.throwIfAborted();
      const result = await parseAnswer(counted(), { mediaType, kind: "quads", baseIri: url, limits, check });
      const quads: RDF.Quad[] = [];
      if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
      return { url, mediaType, quads, bytes };
    },
  };
}

/** In an evaluator, what requests belong to is the number of their run. */
const runOf = (trace: unknown): number => (typeof trace === "number" ? trace : -1);
