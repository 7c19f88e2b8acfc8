const highSurrogates = 0xd8_00;
const privateUse = 0xe0_00;

/** Moves surrogates above the rest of the basic plane: code units then compare as the UTF-8 bytes do. */
function rank(unit: number): number {
  if (unit >= privateUse) return unit - 0x8_00;
  return unit >= highSurrogates ? unit + 0x20_00 : unit;
}

/** Order of two keys by their UTF-8 bytes, which is the order of their code points; `<` compares UTF-16 units. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const difference = rank(left.charCodeAt(index)) - rank(right.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** The smallest key above all keys that begin with `prefix`; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.length > 0) {
    const last = points.pop() ?? 0;
    if (last < 0x10_ff_ff) {
      const next = last + 1 === highSurrogates ? privateUse : last + 1;
      return String.fromCodePoint(...points, next);
    }
  }
  return undefined;
}
