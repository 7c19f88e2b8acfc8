import {
  assembleModule,
  block,
  branch,
  branchIf,
  type Code,
  get,
  i32,
  i64,
  loadByte,
  loadInt,
  loadVector,
  loop,
  op,
  set,
  splat,
  storeByte,
  storeInt,
  tee,
  valueType,
  vector,
  when,
} from "./wasm-code.ts";

/** Deepest nesting that is followed. */
export const maxDepth = 1024;
/** Most bytes of one run. */
export const maxRunBytes = 65_536;

const blockBytes = 64;
/** Memory: the bytes, then one byte for each open bracket, then the state. */
const bracketsAt = maxRunBytes;
const stateAt = bracketsAt + maxDepth;

/** The state before and after a run: 32-bit words, each at this index. */
export const word = {
  depth: 0,
  rows: 1,
  /** The run stops when a bracket closes down to this depth. */
  floor: 2,
  /** What closes down to this depth is a row; -1 for none. */
  rowDepth: 3,
  /** Index behind the last row that ended, -1 for none. */
  lastRowEnd: 4,
  /** -1 inside a string, else 0. */
  inString: 5,
  /** 1 when the next byte is escaped, else 0. */
  escaped: 6,
  /** One of `fault`. */
  fault: 7,
} as const;

/** How a run can fail. */
export const fault = { none: 0, illegalByte: 1, mismatch: 2, depth: 3 } as const;

const wordCount = 8;
const stateOffset = (index: number): number => stateAt + 4 * index;

// The local variables; the first is the parameter, the number of bytes.
const [length, at, depth, rows, position, byte] = [0, 1, 2, 3, 4, 5];
const [quotes, slashes, inside, brackets, bad] = [6, 7, 8, 9, 10];
const [stringCarry, escapeCarry, escaped, scratch] = [11, 12, 13, 14];
const vectors = [15, 16, 17, 18] as const;
const locals = [
  [5, valueType.i32],
  [9, valueType.i64],
  [4, valueType.v128],
] as const;

/** 64 bits, one a byte of the block: a predicate gives 0xff or 0 for each byte of a vector. */
const bitsWhere = (predicate: (vector: number) => Code): Code =>
  vectors.map((local, index) => [
    predicate(local),
    op.bitmask,
    op.i64ExtendI32U,
    index === 0 ? [] : [i64(BigInt(16 * index)), op.i64Shl, op.i64Or],
  ]);

const equals = (value: number) => (local: number) => [get(local), splat(value), op.bytesEq];

/** Curly or square brackets differ from each other in bit 5 only. */
const isBracket = (local: number): Code => [
  [get(local), splat(0x20), op.or, splat(0x7b), op.bytesEq],
  [get(local), splat(0x20), op.or, splat(0x7d), op.bytesEq],
  op.or,
];

/** Bytes that may stand outside strings: white space, structure, numbers, the letters of true, false and null. */
const legalBytes = Buffer.from(' \t\r\n"{}[],:0123456789+-.eEtrufalsn');
const lowNibbles = Array.from({ length: 16 }, (_, nibble) =>
  legalBytes.filter((value) => (value & 15) === nibble).reduce((bits, value) => bits | (1 << (value >> 4)), 0),
);
const highNibbles = Array.from({ length: 16 }, (_, nibble) => (nibble < 8 ? 1 << nibble : 0));

/** A byte is legal when the two tables share a bit: the low one names the high nibbles that it may have. */
const isIllegal = (local: number): Code => [
  [vector(lowNibbles), get(local), splat(15), op.and, op.swizzle],
  [vector(highNibbles), get(local), i32(4), op.bytesShrU, op.swizzle],
  [op.and, splat(0), op.bytesEq],
];

const isControl = (local: number): Code => [get(local), splat(0x20), op.bytesLtU];

const oddBits = 0xaaaaaaaaaaaaaaaan;

/**
 * Takes escaped quotes out of `quotes`. A backslash escapes the next byte unless it is escaped itself: subtracting the
 * backslashes lets a borrow run through each series and leaves the parity of its length (Lemire's method).
 */
const dropEscapedQuotes: Code = when(
  [get(slashes), get(escapeCarry), i64(-1n), op.i64Xor, op.i64And, tee(scratch)],
  [i64(1n), op.i64Shl, i64(oddBits), op.i64Or, get(scratch), op.i64Sub, i64(oddBits), op.i64Xor, tee(scratch)],
  [get(slashes), get(escapeCarry), op.i64Or, op.i64Xor, set(escaped)],
  [get(quotes), get(escaped), i64(-1n), op.i64Xor, op.i64And, set(quotes)],
  [get(scratch), get(slashes), op.i64And, i64(63n), op.i64ShrU, set(escapeCarry)],
);

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
const fail = (kind: number): Code => [
  [i32(0), i32(kind), storeInt(stateOffset(word.fault))],
  [i32(0), set(length)],
];
const state = (index: number): Code => [i32(0), loadInt(stateOffset(index))];

const openBracket = (done: number): Code => [
  [get(depth), i32(maxDepth), op.i32Eq, when(fail(fault.depth), branch(done + 1))],
  [get(depth), get(byte), storeByte(bracketsAt)],
  [get(depth), i32(1), op.i32Add, set(depth)],
];

const closeBracket = (done: number): Code => [
  [get(depth), i32(1), op.i32Sub, tee(depth), loadByte(bracketsAt), i32(2), op.i32Add],
  [get(byte), op.i32Ne, when(fail(fault.mismatch), branch(done + 1))],
  [get(depth), state(word.floor), op.i32Eq],
  when(
    // What comes behind the end is not looked at here.
    [get(bad), i64(-1n), get(position), op.i64ExtendI32U, op.i64Shl, i64(-1n), op.i64Xor, op.i64And, set(bad)],
    [get(at), get(position), op.i32Add, i32(1), op.i32Add, set(length)],
    branch(done + 1),
  ),
  [get(depth), state(word.rowDepth), op.i32Eq],
  when(
    [get(rows), i32(1), op.i32Add, set(rows)],
    [i32(0), get(at), get(position), op.i32Add, i32(1), op.i32Add, storeInt(stateOffset(word.lastRowEnd))],
  ),
];

/** Visits the brackets of the block in order; leaves the loop early at the floor or at a fault. */
const followBrackets: Code = block(
  loop(
    [get(brackets), op.i64Eqz, branchIf(1)],
    [get(brackets), op.i64Ctz, op.i32WrapI64, tee(position), get(at), op.i32Add, loadByte(0), set(byte)],
    [get(brackets), get(brackets), i64(1n), op.i64Sub, op.i64And, set(brackets)],
    // Bit 1 tells the opening brackets (0x5b, 0x7b) from the closing ones (0x5d, 0x7d).
    block(block(get(byte), i32(2), op.i32And, op.i32Eqz, branchIf(0), openBracket(3), branch(1)), closeBracket(2)),
    branch(0),
  ),
);

const scanBlock: Code = [
  vectors.map((local, index) => [get(at), loadVector(16 * index), set(local)]),
  [bitsWhere(equals(0x22)), set(quotes), bitsWhere(equals(0x5c)), set(slashes)],
  [i64(0n), set(escaped), get(slashes), get(escapeCarry), op.i64Or, op.i64Eqz, op.i32Eqz],
  dropEscapedQuotes,
  findStrings,
  [outside(bitsWhere(isIllegal)), bitsWhere(isControl), get(inside), op.i64And, op.i64Or],
  [set(bad), outside(bitsWhere(isBracket)), set(brackets)],
  // Only what stands before the first bad byte counts: ~bad & (bad - 1).
  [get(bad), op.i64Eqz, op.i32Eqz],
  when(
    [get(brackets), get(bad), i64(-1n), op.i64Xor, get(bad), i64(1n), op.i64Sub, op.i64And, op.i64And],
    set(brackets),
  ),
  followBrackets,
  [get(bad), op.i64Eqz, op.i32Eqz, when(fail(fault.illegalByte))],
];

const saveInt = (index: number, value: Code): Code => [i32(0), value, storeInt(stateOffset(index))];
const loadState = (index: number, local: number, widen: Code): Code => [state(index), widen, set(local)];

const kernel: Code = [
  [loadState(word.depth, depth, []), loadState(word.rows, rows, [])],
  [loadState(word.inString, stringCarry, op.i64ExtendI32S)],
  [loadState(word.escaped, escapeCarry, op.i64ExtendI32U)],
  loop(scanBlock, [get(at), i32(blockBytes), op.i32Add, tee(at), get(length), op.i32LtU, branchIf(0)]),
  // In a last block that is not full the bit behind the last byte tells whether the next byte is escaped.
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
  /** The open brackets, outermost first. */
  readonly brackets: Uint8Array;
  /** See `word`. */
  readonly state: Int32Array;
  /** Scans so many bytes (at least one); gives the index behind the bracket that reached the floor, else the number. */
  readonly run: (length: number) => number;
}

/**
 * Follows strings and brackets of JSON 64 bytes at a time in WebAssembly SIMD, because this runs over every byte of
 * every answer. The method is that of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second"): bit
 * masks instead of branches.
 */
export function createJsonKernel(): JsonKernel {
  const module = new WebAssembly.Module(assembleModule({ locals, code: kernel }, 2));
  const { memory, run } = new WebAssembly.Instance(module).exports;
  return {
    bytes: new Uint8Array(memory.buffer, 0, maxRunBytes),
    brackets: new Uint8Array(memory.buffer, bracketsAt, maxDepth),
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
