import { describe, expect, it } from "vitest";
import { answerCapture, capWasmMemory, memoryKeeper } from "../../../src/hosting/wasm-limits.ts";

const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** Memory of one page without a maximum, exported as "m". */
const memorySection = [0x05, 0x03, 0x01, 0x00, 0x01];
const exportSection = [0x07, 0x05, 0x01, 0x01, 0x6d, 0x02, 0x00];
const growing = Uint8Array.from([...header, ...memorySection, ...exportSection]);
const page = 65_536;

interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: { readonly m: Memory } };
}
interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}
// The language service of Node has no types for WebAssembly.
const { Module, Instance }: Wasm = Reflect.get(globalThis, "WebAssembly");
const memoryOf = (bytes: Uint8Array): Memory => new Instance(new Module(bytes)).exports.m;

describe("capWasmMemory", () => {
  it("has something to do", () => expect(memoryOf(growing).grow(1_000)).toBe(1));
  it("lets memory grow up to the cap", () => expect(memoryOf(capWasmMemory(growing, 300 * page)).grow(299)).toBe(1));
  it("lets it grow no further", () => {
    const memory = memoryOf(capWasmMemory(growing, 300 * page));
    expect(() => memory.grow(300)).toThrow(RangeError);
    expect(memory.buffer.byteLength).toBe(page);
  });
  it("rounds down to whole pages", () => {
    const memory = memoryOf(capWasmMemory(growing, 3 * page - 1));
    expect(memory.grow(1)).toBe(1);
    expect(() => memory.grow(1)).toThrow(RangeError);
  });
  it("replaces a maximum", () => {
    const memory = memoryOf(capWasmMemory(capWasmMemory(growing, 2 * page), 9 * page));
    expect(memory.grow(8)).toBe(1);
  });
  it("leaves the rest as it is", () => {
    expect([...capWasmMemory(growing, 2 * page).subarray(14)]).toEqual(exportSection);
  });
  it("refuses less than the start needs", () => {
    expect(() => capWasmMemory(growing, page - 1)).toThrow(/needs 65536 bytes/);
  });
  it("refuses a module without memory", () => {
    expect(() => capWasmMemory(Uint8Array.from(header), page)).toThrow(/no memory section/);
  });
  it("refuses shared memory", () => {
    const shared = Uint8Array.from([...header, 0x05, 0x04, 0x01, 0x03, 0x01, 0x02]);
    expect(() => capWasmMemory(shared, page)).toThrow(/one plain memory/);
  });
  it("refuses a cut-off module", () => {
    expect(() => capWasmMemory(Uint8Array.from([...header, 0x05, 0x80]), page)).toThrow(/not a WebAssembly module/);
  });
});

/** An allocator whose memory grows by what is allocated, as that of a store with no block to spare. */
function allocator(mib: number) {
  const state = { byteLength: mib * 1_048_576, steps: [] as number[] };
  const malloc = (bytes: number): number => {
    state.byteLength += bytes;
    return state.steps.push(bytes / 1_048_576);
  };
  const module = { memory: { buffer: state }, __wbindgen_malloc: malloc, __wbindgen_free: () => {} };
  return { state, module: module as unknown as Parameters<typeof memoryKeeper>[0] };
}

describe("memoryKeeper", () => {
  const most = 1_024 * 1_048_576;

  it("adds an eighth to a memory that has grown, once", () => {
    const { state, module } = allocator(80);
    const keepRoom = memoryKeeper(module, most);
    for (let times = 0; times < 3; times += 1) keepRoom();
    expect(state.steps).toEqual([10]);
    state.byteLength += 6 * 1_048_576;
    keepRoom();
    expect(state.steps).toEqual([10, 12]);
  });
  it("leaves a small memory alone, and adds what is asked for", () => {
    const { state, module } = allocator(16);
    const keepRoom = memoryKeeper(module, most);
    keepRoom();
    keepRoom(4 * 1_048_576);
    expect(state.steps).toEqual([4]);
  });
  it("takes at most half of what is left, and nothing at the cap", () => {
    const { state, module } = allocator(1_000);
    const keepRoom = memoryKeeper(module, most);
    keepRoom(most);
    expect(state.steps).toEqual([12]);
    state.byteLength = most;
    keepRoom(most);
    expect(state.steps).toEqual([12]);
  });
});

const bytes = (size: number) => new Uint8Array(size).fill(97);

describe("answerCapture", () => {
  it("decodes what is small", () => {
    const capture = answerCapture(1_000_000);
    expect(new capture.TextDecoder().decode(bytes(65_535))).toHaveLength(65_535);
    expect(capture.bytes).toBeUndefined();
  });
  it("keeps a copy of what is large", () => {
    const capture = answerCapture(1_000_000);
    const text = bytes(65_536);
    expect(new capture.TextDecoder().decode(text)).toBe("");
    text.fill(0);
    expect(capture.bytes?.every((byte) => byte === 97)).toBe(true);
    expect(capture.bytes).toHaveLength(65_536);
  });
  it("only measures what is too large", () => {
    const capture = answerCapture(100_000);
    new capture.TextDecoder().decode(bytes(100_001));
    expect([capture.bytes, capture.skippedBytes]).toEqual([undefined, 100_001]);
  });
  it("forgets", () => {
    const capture = answerCapture(100_000);
    new capture.TextDecoder().decode(bytes(100_000));
    new capture.TextDecoder().decode(bytes(100_001));
    capture.reset();
    expect([capture.bytes, capture.skippedBytes]).toEqual([undefined, undefined]);
  });
});
