/** Strings below this are decoded as usual: error messages, terms and small answers. */
const captureFromBytes = 65_536;

/** A decoder class that keeps large answers as bytes, and what it kept since the last `reset`. */
export interface AnswerCapture {
  readonly TextDecoder: typeof globalThis.TextDecoder;
  /** A copy of the last large text. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** Size of the last large text when it was larger than `maxBytes` and therefore not copied. */
  readonly skippedBytes: number | undefined;
  reset(): void;
}

/**
 * Oxigraph gives an answer as one JavaScript string, made by a `TextDecoder` from UTF-8 in WebAssembly memory. A
 * string of hundreds of megabytes would exceed the thread's heap, which ends the whole process, and would be
 * encoded to UTF-8 again at once. This decoder takes the bytes instead and returns an empty string.
 */
export function answerCapture(maxBytes = Number.POSITIVE_INFINITY): AnswerCapture {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  let skippedBytes: number | undefined;
  class CapturingDecoder extends TextDecoder {
    override decode(input?: NodeJS.ArrayBufferView | ArrayBuffer | null, options?: { stream?: boolean }): string {
      if (!(input instanceof Uint8Array) || input.byteLength < captureFromBytes) return super.decode(input, options);
      if (input.byteLength > maxBytes) skippedBytes = input.byteLength;
      else bytes = new Uint8Array(input);
      return "";
    }
  }
  return {
    TextDecoder: CapturingDecoder,
    get bytes() {
      return bytes;
    },
    get skippedBytes() {
      return skippedBytes;
    },
    reset() {
      bytes = undefined;
      skippedBytes = undefined;
    },
  };
}
