import {
  assembleModule,
  block,
  branch,
  branchIf,
  type Code,
  get,
  i32,
  i64,
  loadInt,
  loadVector,
  loop,
  op,
  set,
  splat,
  storeInt,
  tee,
  valueType,
  when,
} from "./wasm-code.ts";

/** Most bytes of one run. */
export const maxRunBytes = 65_536;

const blockBytes = 64;
/** Memory: the bytes, then the state. */
const stateAt = maxRunBytes;

/** The state before and after a run: 32-bit words, each at this index. */
export const word = {
  depth: 0,
  rows: 1,
  /** The run stops when a bracket closes down to this depth. */
  floor: 2,
  /** Closing down to this depth ends a row; -1 for none. Deeper than the floor. */
  rowDepth: 3,
  /** Index behind the last row that ended, -1 for none. */
  lastRowEnd: 4,
  /** -1 inside a string, else 0. */
  inString: 5,
  /** 1 when the next byte is escaped, else 0. */
  escaped: 6,
  /** The largest depth at the end of any block, so at most 64 levels less than the deepest of all. */
  deepest: 7,
} as const;

const wordCount = 8;
const stateOffset = (index: number): number => stateAt + 4 * index;

// The local variables; the first is the parameter, the number of bytes.
const [length, at, depth, rows, position, watched] = [0, 1, 2, 3, 4, 5];
const [quotes, slashes, inside, opening, closing] = [6, 7, 8, 9, 10];
const [stringCarry, escapeCarry, escaped, scratch] = [11, 12, 13, 14];
const vectors = [15, 16, 17, 18] as const;
// Bytes that are looked for, 16 times each: as constants they would be put together anew in every block.
const [quoteBytes, slashBytes, bit5Bytes, openBytes, closeBytes] = [19, 20, 21, 22, 23];
const locals = [
  [5, valueType.i32],
  [9, valueType.i64],
  [9, valueType.v128],
] as const;

/** 64 bits, one a byte of the block: a predicate gives 0xff or 0 for each byte of a vector. */
const bitsWhere = (predicate: (vector: number) => Code): Code =>
  vectors.map((local, index) => [
    predicate(local),
    op.bitmask,
    op.i64ExtendI32U,
    index === 0 ? [] : [i64(BigInt(16 * index)), op.i64Shl, op.i64Or],
  ]);

const equals = (wanted: number) => (local: number) => [get(local), get(wanted), op.bytesEq];

/** Square brackets become curly ones, from which they differ in bit 5 only. */
const curlBrackets: Code = vectors.map((local) => [get(local), get(bit5Bytes), op.or, set(local)]);

const oddBits = 0xaaaaaaaaaaaaaaaan;

/**
 * Takes escaped quotes out of `quotes`. A backslash escapes the next byte unless it is escaped itself: subtracting the
 * backslashes lets a borrow run through each series and leaves the parity of its length (Lemire's method).
 */
const dropEscapedQuotes: Code = [
  [get(slashes), get(escapeCarry), i64(-1n), op.i64Xor, op.i64And, tee(scratch)],
  [i64(1n), op.i64Shl, i64(oddBits), op.i64Or, get(scratch), op.i64Sub, i64(oddBits), op.i64Xor, tee(scratch)],
  [get(slashes), get(escapeCarry), op.i64Or, op.i64Xor, set(escaped)],
  [get(quotes), get(escaped), i64(-1n), op.i64Xor, op.i64And, set(quotes)],
  [get(scratch), get(slashes), op.i64And, i64(63n), op.i64ShrU, set(escapeCarry)],
];

/** Each bit of `inside` = parity of the quotes up to it, so 1 from an opening quote to just before the closing one. */
const findStrings: Code = [
  [get(quotes), set(inside)],
  [1n, 2n, 4n, 8n, 16n, 32n].map((distance) => [
    [get(inside), get(inside), i64(distance), op.i64Shl, op.i64Xor, set(inside)],
  ]),
  [get(inside), get(stringCarry), op.i64Xor, tee(inside), i64(63n), op.i64ShrS],
  set(stringCarry),
];

const outside = (bits: Code): Code => [bits, get(inside), i64(-1n), op.i64Xor, op.i64And];
const state = (index: number): Code => [i32(0), loadInt(stateOffset(index))];
const behindPosition: Code = [get(at), get(position), op.i32Add, i32(1), op.i32Add];

const closeBracket = (done: number): Code => [
  [get(depth), i32(1), op.i32Sub, tee(depth), state(word.floor), op.i32Eq],
  // Bytes behind the end are not checked in this function.
  when(behindPosition, set(length), branch(done + 1)),
  [get(depth), state(word.rowDepth), op.i32Eq],
  when([get(rows), i32(1), op.i32Add, set(rows)], [i32(0), behindPosition, storeInt(stateOffset(word.lastRowEnd))]),
];

/** Visits the brackets of the block in order; leaves the loop early at the floor. */
const followBrackets: Code = block(
  loop(
    [get(opening), get(closing), op.i64Or, tee(scratch), op.i64Eqz, branchIf(1)],
    [get(scratch), op.i64Ctz, op.i32WrapI64, set(position)],
    // The lowest bracket, and whether it is an opening one.
    [get(scratch), i64(0n), get(scratch), op.i64Sub, op.i64And, tee(scratch), get(opening), op.i64And],
    [op.i64Eqz, op.i32Eqz],
    when([get(opening), get(scratch), op.i64Xor, set(opening)], [get(depth), i32(1), op.i32Add, set(depth)], branch(1)),
    [get(closing), get(scratch), op.i64Xor, set(closing)],
    closeBracket(1),
    branch(0),
  ),
);

const countOf = (bits: number): Code => [get(bits), op.i64Popcnt, op.i32WrapI64];

/** In most blocks nothing can close down to a row or to the floor: there counting is enough. */
const countBrackets: Code = block(
  block(
    [get(depth), countOf(closing), op.i32Sub, get(watched), op.i32LeS, branchIf(0)],
    [get(depth), countOf(opening), op.i32Add, countOf(closing), op.i32Sub, set(depth)],
    branch(1),
  ),
  followBrackets,
);

const findEscapes: Code = [
  [i64(0n), set(escaped)],
  [vectors.map((local, index) => [equals(slashBytes)(local), index === 0 ? [] : op.or]), op.anyTrue],
  [get(escapeCarry), op.i32WrapI64, op.i32Or],
  when([bitsWhere(equals(slashBytes)), set(slashes)], dropEscapedQuotes),
];

const scanBlock: Code = [
  vectors.map((local, index) => [get(at), loadVector(16 * index), set(local)]),
  [bitsWhere(equals(quoteBytes)), set(quotes)],
  findEscapes,
  findStrings,
  curlBrackets,
  [outside(bitsWhere(equals(openBytes))), set(opening), outside(bitsWhere(equals(closeBytes))), set(closing)],
  countBrackets,
];

const saveInt = (index: number, value: Code): Code => [i32(0), value, storeInt(stateOffset(index))];
const keepDeepest = saveInt(word.deepest, [
  [get(depth), state(word.deepest)],
  [get(depth), state(word.deepest), op.i32GtS, op.select],
]);
const loadState = (index: number, local: number, widen: Code): Code => [state(index), widen, set(local)];

const setBytes: Code = [
  [splat(0x22), set(quoteBytes), splat(0x5c), set(slashBytes), splat(0x20), set(bit5Bytes)],
  [splat(0x7b), set(openBytes), splat(0x7d), set(closeBytes)],
];

const kernel: Code = [
  setBytes,
  [loadState(word.depth, depth, []), loadState(word.rows, rows, [])],
  [
    state(word.floor),
    state(word.rowDepth),
    state(word.floor),
    state(word.rowDepth),
    op.i32GtS,
    op.select,
    set(watched),
  ],
  [loadState(word.inString, stringCarry, op.i64ExtendI32S)],
  [loadState(word.escaped, escapeCarry, op.i64ExtendI32U)],
  loop(scanBlock, keepDeepest, [get(at), i32(blockBytes), op.i32Add, tee(at), get(length), op.i32LtU, branchIf(0)]),
  // In a last block that is not full the bit behind the last byte shows whether the next byte is escaped.
  [get(length), i32(blockBytes - 1), op.i32And],
  when([get(escaped), get(length), op.i64ExtendI32U, op.i64ShrU, i64(1n), op.i64And, set(escapeCarry)]),
  [saveInt(word.depth, get(depth)), saveInt(word.rows, get(rows))],
  saveInt(word.inString, [get(stringCarry), op.i32WrapI64]),
  saveInt(word.escaped, [get(escapeCarry), op.i32WrapI64]),
  get(length),
];

/** The kernel: memory to be filled, and the function that runs over it. */
export interface JsonKernel {
  /** The bytes to scan; up to the next multiple of 64 they must be followed by spaces. */
  readonly bytes: Uint8Array;
  /** See `word`. */
  readonly state: Int32Array;
  /** Scans a number of bytes (at least one); gives the index behind the bracket that reached the floor, else the number. */
  readonly run: (length: number) => number;
}

/**
 * Follows strings and brackets of JSON 64 bytes at a time in WebAssembly SIMD: without it an answer of 28 MB costs 2.7
 * times the processor time. The method is that of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second"): bit
 * masks instead of branches. It counts: that an answer is closed, and how many rows it has. The parser
 * of the bytes checks that brackets of one kind do not close those of the other.
 */
export function createJsonKernel(): JsonKernel {
  const module = new WebAssembly.Module(assembleModule({ locals, code: kernel }, 2));
  const { memory, run } = new WebAssembly.Instance(module).exports;
  return {
    bytes: new Uint8Array(memory.buffer, 0, maxRunBytes),
    state: new Int32Array(memory.buffer, stateAt, wordCount),
    run,
  };
}

/** The part of the global that is used here; Node's type declarations leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly run: (length: number) => number };
  };
};
