import { isUtf8 } from "node:buffer";
import { FedwayError } from "../errors/fedway-error.ts";

const notUtf8 = (what: string): FedwayError =>
  new FedwayError("QUERY_ENCODING", `${what} is not UTF-8 text.`, {
    next: "Send the text as UTF-8; in URLs and forms percent-encode its UTF-8 bytes.",
  });

/**
 * Bytes as text; a byte order mark is dropped.
 * @throws FedwayError `QUERY_ENCODING` when the bytes are not UTF-8
 */
export function utf8Text(bytes: Buffer, what: string): string {
  if (!isUtf8(bytes)) throw notUtf8(what);
  const text = bytes.toString("utf8");
  return text.codePointAt(0) === 0xfe_ff ? text.slice(1) : text;
}

function decoded(part: string, what: string): string {
  const spaced = part.includes("+") ? part.replaceAll("+", " ") : part;
  if (!spaced.includes("%")) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw notUtf8(what);
  }
}

/**
 * The values of `application/x-www-form-urlencoded` text, by name, in order. Only the parameters in `known` are
 * decoded, others are skipped: clients add their own.
 * @throws FedwayError `QUERY_ENCODING` when a value is not percent-encoded UTF-8
 */
export function formParameters(encoded: string, known: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let start = 0;
  while (start < encoded.length) {
    const ampersand = encoded.indexOf("&", start);
    const end = ampersand === -1 ? encoded.length : ampersand;
    const equals = encoded.indexOf("=", start);
    const nameEnd = equals === -1 || equals > end ? end : equals;
    const name = encoded.slice(start, nameEnd);
    if (known.has(name)) {
      const value = decoded(encoded.slice(Math.min(nameEnd + 1, end), end), `The parameter "${name}"`);
      const values = found.get(name);
      if (values) values.push(value);
      else found.set(name, [value]);
    }
    start = end + 1;
  }
  return found;
}

/** The query part of a request target, as Node delivers it. */
export function searchOf(target: string): string {
  const mark = target.indexOf("?");
  return mark === -1 ? "" : target.slice(mark + 1);
}

/** A query part as UTF-8 text; Node delivers raw bytes beyond ASCII as Latin-1. */
export const searchText = (search: string): string =>
  /^[\x20-\x7e]*$/.test(search) ? search : utf8Text(Buffer.from(search, "latin1"), "The URL");
