import { codingOf, decodeWhole } from "./content-coding.ts";
import type { ResponseHeaders } from "./headers.ts";

/** Bytes of an error body that are read. */
export const maxErrorBytes = 8192;
const maxErrorDecodedBytes = 65_536;
const maxExcerpt = 300;

/** The beginning of an error body as text; empty when it cannot be decoded. */
export function errorText(body: Buffer, headers: ResponseHeaders): string {
  try {
    return decodeWhole(codingOf(headers) ?? "identity", body, maxErrorDecodedBytes).toString("utf8", 0, maxErrorBytes);
  } catch {
    return "";
  }
}

/**
 * The beginning of a foreign text, fit for a one-line message: no markup, control or format characters, one blank
 * between words, at most 300 characters.
 */
export function excerptOf(text: string): string {
  const plain = text
    .slice(0, maxErrorBytes)
    .replaceAll(/<(script|style)\b[^>]{0,200}>[^<]{0,8192}/giu, " ")
    .replaceAll(/<[^<>]{0,400}>/gu, " ")
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return plain.length <= maxExcerpt
    ? plain
    : `${plain
        .slice(0, maxExcerpt - 1)
        .toWellFormed()
        .replace(/\uFFFD$/u, "")}…`;
}
