const memorySectionId = 5;
const headerBytes = 8;
const pageBytes = 65_536;

/**
 * A WebAssembly module whose memory can never grow beyond `maxBytes`: the same bytes with a maximum written into the
 * memory section (WebAssembly core specification, sections 5.4.6 and 5.5.8). Worker resource limits do not
 * count WebAssembly memory, so this is what bounds a store. A failed `memory.grow` makes the module trap.
 * @throws RangeError when the module has no memory section of its own, several memories, or needs more to start
 */
export function capWasmMemory(module: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const section = findSection(module, memorySectionId);
  const count = readLeb128(module, section.bodyStart);
  const limitsAt = count.next + 1;
  if (count.value !== 1 || (module[count.next] ?? 0) > 1) throw new RangeError("not exactly one plain memory");
  const minimum = readLeb128(module, limitsAt);
  const maximum = Math.floor(maxBytes / pageBytes);
  if (maximum < minimum.value) throw new RangeError(`the module needs ${minimum.value * pageBytes} bytes to start`);
  const body = [1, 1, ...unsignedLeb128(minimum.value), ...unsignedLeb128(maximum)];
  return new Uint8Array(
    Buffer.concat([
      module.subarray(0, section.start),
      Uint8Array.of(memorySectionId, ...unsignedLeb128(body.length), ...body),
      module.subarray(section.end),
    ]),
  );
}

function findSection(module: Uint8Array, id: number) {
  let start = headerBytes;
  while (start < module.length) {
    const size = readLeb128(module, start + 1);
    const end = size.next + size.value;
    if (module[start] === id) return { start, bodyStart: size.next, end };
    start = end;
  }
  throw new RangeError("no memory section");
}

/** LEB128 of an unsigned 32-bit number. */
function unsignedLeb128(value: number): number[] {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...unsignedLeb128(value >>> 7)];
}

function readLeb128(bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) break;
    value += (byte & 127) * 2 ** (7 * index);
    if (byte < 128) return { value, next: at + index + 1 };
  }
  throw new RangeError("not a WebAssembly module");
}

/** From here on V8 collects garbage each time that memory grows. */
const costlyBytes = 48 * 1_048_576;
/** Of its size is added to a memory that had to grow. */
const growthShare = 1 / 8;

/** A module's memory and allocator. */
interface Allocating {
  readonly memory: { readonly buffer: ArrayBufferLike };
  __wbindgen_malloc(bytes: number, align: number): number;
  __wbindgen_free(pointer: number, bytes: number, align: number): void;
}

/**
 * Adds to a memory that has grown since the last call as much as it may soon need, in one step. The allocator itself takes 64 KiB
 * at a time and keeps what is freed; each such step costs some 5 ms in a thread, a minute and a half a GiB, as V8 counts the whole
 * memory anew and collects garbage. Memory that is never written to costs the machine nothing.
 * @param maxBytes as of `capWasmMemory`
 * @returns called with `bytes` it adds that many or more
 */
export function memoryKeeper(module: Allocating, maxBytes: number): (bytes?: number) => void {
  let knownBytes = 0;
  return (bytes = 0) => {
    const { byteLength } = module.memory.buffer;
    const isGrown = byteLength > knownBytes && byteLength > costlyBytes;
    const wanted = Math.max(bytes, isGrown ? byteLength * growthShare : 0);
    // A failed allocation would trap, and freed blocks may lie apart.
    const room = Math.floor(Math.min(wanted, (maxBytes - byteLength) / 2));
    if (room > 0) module.__wbindgen_free(module.__wbindgen_malloc(room, 1), room, 1);
    knownBytes = module.memory.buffer.byteLength;
  };
}

/** Strings below this are decoded as usual: error messages, terms and small answers. */
const captureFromBytes = 65_536;

/** A decoder class that keeps large answers as bytes, and what it kept since the last `reset`. */
interface AnswerCapture {
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
