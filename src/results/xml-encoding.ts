/** Bytes within which the encoding of an XML document shows; a declaration is shorter. */
const longestDeclaration = 256;

/**
 * The bytes of an XML document as UTF-8, whatever encoding its byte order mark or declaration names (Extensible Markup
 * Language 1.0, appendix F): UTF-16, ISO-8859-1 and what else WHATWG's Encoding Standard knows. UTF-8 passes without a copy,
 * and so does an unknown encoding: its readers report the problem.
 */
export class XmlEncoding {
  /** The beginning of the document, while it does not show the encoding. */
  #held: Buffer | undefined = Buffer.alloc(0);
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  /** The next bytes, split anywhere. */
  toUtf8(bytes: Uint8Array): Uint8Array {
    if (this.#held === undefined) return this.#converted(bytes);
    const held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    if (!shows(held)) {
      this.#held = Buffer.from(held);
      return none;
    }
    return this.#begin(held);
  }

  /** The bytes left once the last byte has been read. */
  end(): Uint8Array {
    const rest = this.#held === undefined ? none : this.#begin(this.#held);
    const last = this.#decoder?.decode() ?? "";
    return last === "" ? rest : Buffer.concat([rest, Buffer.from(last)]);
  }

  #begin(bytes: Uint8Array): Uint8Array {
    this.#held = undefined;
    this.#decoder = decoderOf(bytes);
    return this.#converted(bytes);
  }

  #converted(bytes: Uint8Array): Uint8Array {
    return this.#decoder === undefined ? bytes : Buffer.from(this.#decoder.decode(bytes, { stream: true }));
  }
}

const none = Buffer.alloc(0);

const opening = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, longestDeclaration)).toString("latin1");

/** True if the bytes end behind the declaration, or contain none. */
function shows(bytes: Uint8Array): boolean {
  if (bytes.length >= longestDeclaration) return true;
  const text = opening(bytes);
  return text.length >= "<?xml".length && (!text.startsWith("<?xml") || text.includes(">"));
}

/** Undefined for UTF-8. */
function decoderOf(bytes: Uint8Array): InstanceType<typeof TextDecoder> | undefined {
  const text = opening(bytes);
  if (/^(?:\xFE\xFF|\0<)/.test(text)) return new TextDecoder("utf-16be");
  if (/^(?:\xFF\xFE|<\0)/.test(text)) return new TextDecoder("utf-16le");
  const label = /^<\?xml[^>]{1,200}?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(text)?.[1];
  // A single byte a character: the declaration was written before the document was encoded.
  if (label === undefined || /^(?:utf-?(?:8|16(?:[bl]e)?)|us-ascii)$/i.test(label)) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
