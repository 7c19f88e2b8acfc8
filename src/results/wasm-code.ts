/** Bytes of WebAssembly instructions, in order; nesting has no meaning. */
export type Code = readonly (number | Code)[];

/** The same without nesting. */
const flatten = (code: Code): number[] => code.flatMap((part) => (typeof part === "number" ? [part] : flatten(part)));

/** Value types (WebAssembly core specification 2.0, section 5.3). */
export const valueType = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;

/** LEB128 of an unsigned 32-bit number. */
export function unsignedLeb128(value: number): number[] {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...unsignedLeb128(value >>> 7)];
}

/** LEB128 of a signed number. */
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn);
  const rest = value >> 7n;
  const last = (rest === 0n && low < 0x40) || (rest === -1n && low >= 0x40);
  return last ? [low] : [low | 0x80, ...signed(rest)];
}

const noResult = 0x40;
const end = 0x0b;
const simd = (opcode: number): Code => [0xfd, ...unsignedLeb128(opcode)];

/** Local variables, constants, control. */
export const get = (local: number): Code => [0x20, ...unsignedLeb128(local)];
export const set = (local: number): Code => [0x21, ...unsignedLeb128(local)];
export const tee = (local: number): Code => [0x22, ...unsignedLeb128(local)];
export const i32 = (value: number): Code => [0x41, ...signed(BigInt(value))];
export const i64 = (value: bigint): Code => [0x42, ...signed(BigInt.asIntN(64, value))];
export const block = (...body: readonly Code[]): Code => [0x02, noResult, body, end];
export const loop = (...body: readonly Code[]): Code => [0x03, noResult, body, end];
export const when = (...body: readonly Code[]): Code => [0x04, noResult, body, end];
export const branch = (depth: number): Code => [0x0c, ...unsignedLeb128(depth)];
export const branchIf = (depth: number): Code => [0x0d, ...unsignedLeb128(depth)];

/** Loads and stores at the address on the stack plus a constant. */
export const loadInt = (offset: number): Code => [0x28, 2, ...unsignedLeb128(offset)];
export const storeInt = (offset: number): Code => [0x36, 2, ...unsignedLeb128(offset)];
export const loadVector = (offset: number): Code => [...simd(0x00), 0, ...unsignedLeb128(offset)];

/** Instructions without operands of their own, by their names in the specification. */
export const op = {
  select: [0x1b],
  i32Eqz: [0x45],
  i32Eq: [0x46],
  i32LtU: [0x49],
  i32GtS: [0x4a],
  i32LeS: [0x4c],
  i64Eqz: [0x50],
  i32Add: [0x6a],
  i32Sub: [0x6b],
  i32And: [0x71],
  i32Or: [0x72],
  i64Ctz: [0x7a],
  i64Popcnt: [0x7b],
  i64Sub: [0x7d],
  i64And: [0x83],
  i64Or: [0x84],
  i64Xor: [0x85],
  i64Shl: [0x86],
  i64ShrS: [0x87],
  i64ShrU: [0x88],
  i32WrapI64: [0xa7],
  i64ExtendI32S: [0xac],
  i64ExtendI32U: [0xad],
  bytesEq: simd(0x23),
  or: simd(0x50),
  anyTrue: simd(0x53),
  bitmask: simd(0x64),
} as const satisfies Record<string, Code>;

/** A vector of 16 given bytes, or of one byte 16 times. */
const vector = (bytes: readonly number[]): Code => [...simd(0x0c), ...bytes];
export const splat = (byte: number): Code => vector(Array.from({ length: 16 }, () => byte));

const sized = (content: Code): Code => {
  const bytes = flatten(content);
  return [unsignedLeb128(bytes.length), bytes];
};
const section = (id: number, content: Code): Code => [id, sized(content)];
const list = (...items: readonly Code[]): Code => [unsignedLeb128(items.length), items];
const name = (text: string): Code => sized([...Buffer.from(text)]);

/** One function from i32 to i32. */
interface FunctionBody {
  /** How many local variables of each type follow the parameter, in order. */
  readonly locals: readonly (readonly [count: number, type: number])[];
  readonly code: Code;
}

/** A module that exports `run` and its `memory` of this number of 64 KiB pages (specification, section 5.5). */
export function assembleModule(body: FunctionBody, pages: number): Uint8Array {
  const locals = list(...body.locals.map(([count, type]) => [unsignedLeb128(count), type]));
  const code: Code = [
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    section(1, list([0x60, list([valueType.i32]), list([valueType.i32])])),
    section(3, list([0])),
    section(5, list([0x00, unsignedLeb128(pages)])),
    section(7, list([name("run"), 0x00, 0], [name("memory"), 0x02, 0])),
    section(10, list(sized([locals, body.code, end]))),
  ];
  return Uint8Array.from(flatten(code));
}
