import { type Substitute, type SubstitutedText, substituted } from "./substituted-text.ts";

const escaped = String.raw`\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}`;
const surrogates = String.raw`\\u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}`;
const strings = String.raw`"""(?:[^\\]|\\.)*?"""|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*'`;
// In comments they mean nothing.
const pieces = new RegExp(String.raw`${strings}|<[^\s<>"{}|^${"`"}]*>|#[^\n\r]*|${escaped}`, "gsu");
const outsideStrings = new RegExp(escaped, "g");
const inStrings = new RegExp(String.raw`${surrogates}|${escaped}|\\.`, "gsu");
// No token but a string has them; an escape of one stays, and is an error where it stands.
const notDecoded = /[\s\p{Cc}\p{Cs}"'\\]/u;

/**
 * Replaces the escapes that stand before the grammar (SPARQL 1.1 Query, section 19.2): in IRIs, names and keywords. In
 * strings they are left to the parser, but for UTF-16 pairs, which parsers differ in.
 */
export const decodeEscapes = (text: string): SubstitutedText =>
  substituted(text, /\\u/i.test(text) ? [...escapesIn(text)] : []);

function* escapesIn(text: string): Generator<Substitute> {
  for (const { 0: piece, index } of text.matchAll(pieces)) {
    if (piece.startsWith("#")) continue;
    const isString = /^["']/.test(piece);
    for (const { 0: escape, index: at } of piece.matchAll(isString ? inStrings : outsideStrings)) {
      const character = isString ? pairOf(escape) : characterOf(escape);
      const start = index + at;
      if (character !== undefined && !notDecoded.test(character)) {
        yield { start, end: start + escape.length, text: character };
      }
    }
  }
}

function characterOf(escape: string): string | undefined {
  const code = Number.parseInt(escape.slice(2), 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function pairOf(escape: string): string | undefined {
  if (escape.length !== 12) return undefined;
  return String.fromCharCode(Number.parseInt(escape.slice(2, 6), 16), Number.parseInt(escape.slice(8), 16));
}

/** True if every escape in a string literal stands for a character. */
export function standForCharacters(literal: string): boolean {
  for (const [escape] of literal.matchAll(inStrings)) {
    const character = escape.length === 2 ? escape : (pairOf(escape) ?? characterOf(escape));
    if (!character?.isWellFormed()) return false;
  }
  return true;
}
