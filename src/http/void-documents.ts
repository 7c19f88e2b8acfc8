import type * as RDF from "@rdfjs/types";
import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { vocabularyPrefixes } from "../rdf/vocabularies.ts";
import { descriptionQuads, type VoidDescription } from "../registry/descriptions.ts";
import type { ResultFormat } from "../results/formats.ts";
import { serializeGraph } from "../results/serialize.ts";

/** A description as it is sent. */
interface VoidDocument {
  readonly chunks: readonly Buffer[];
  readonly bytes: number;
  /** A hash of the bytes, the same in all processes. */
  readonly etag: string;
}

interface VoidForm extends Required<Parameters<typeof descriptionQuads>[1]> {
  readonly format: ResultFormat;
}

/** Bytes of documents that are kept. */
const mostKeptBytes = 128 * 1024 * 1024;
const quadsPerTurn = 1_000;

/**
 * Whole descriptions as documents. One with 500 classes has 40 MB: it is written in slices, once for all who ask for it
 * meanwhile, one document at a time, and kept until its description changes or newer ones need the room.
 */
export function createVoidDocuments() {
  const kept = new Map<string, { readonly description: VoidDescription; readonly document: Promise<VoidDocument> }>();
  let keptBytes = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const forget = async (key: string): Promise<void> => {
    const found = kept.get(key);
    kept.delete(key);
    keptBytes -= (await found?.document.catch(() => undefined))?.bytes ?? 0;
  };
  const made = async (description: VoidDescription, form: VoidForm, key: string): Promise<VoidDocument> => {
    const document = await written(description, form);
    keptBytes += document.bytes;
    for (const oldest of kept.keys()) if (keptBytes > mostKeptBytes && oldest !== key) await forget(oldest);
    return document;
  };
  return async (description: VoidDescription, form: VoidForm): Promise<VoidDocument> => {
    const key = JSON.stringify([form.url, form.view, form.variant, form.format.name]);
    const known = kept.get(key);
    if (known?.description === description) return known.document;
    if (known !== undefined) await forget(key);
    const document = turn.then(() => made(description, form, key));
    turn = document.catch(() => kept.delete(key));
    kept.set(key, { description, document });
    return document;
  };
}

async function written(description: VoidDescription, { format, ...form }: VoidForm): Promise<VoidDocument> {
  const { url } = form;
  const quads = descriptionQuads(description, form);
  const prefixes = new Map([...vocabularyPrefixes, [`${url}#`, ""]]);
  const hash = createHash("sha256");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of serializeGraph(quadsInTurns(quads), format, prefixes)) {
    const part = Buffer.from(chunk);
    hash.update(part);
    chunks.push(part);
    bytes += part.length;
  }
  return { chunks, bytes, etag: `"${hash.digest("base64url")}"` };
}

/** Quads that are made while they are read, with turns for others between them. */
export async function* quadsInTurns(quads: Iterable<RDF.Quad>): AsyncGenerator<RDF.Quad> {
  let count = 0;
  for (const quad of quads) {
    count += 1;
    if (count % quadsPerTurn === 0) await nextTurn();
    yield quad;
  }
}
