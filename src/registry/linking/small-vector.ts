/** A vector in a byte a number, which changes a cosine by less than 0.01. */
export interface SmallVector {
  readonly bytes: Int8Array;
  readonly scale: number;
}

/** The vector in small. */
export function smallVector(vector: Float32Array): SmallVector {
  const scale = vector.reduce((most, value) => Math.max(most, Math.abs(value)), Number.MIN_VALUE) / 127;
  return { bytes: Int8Array.from(vector, (value) => Math.round(value / scale)), scale };
}

/** Cosine of two vectors of length 1; NaN where there is none, or one of another model. */
export function cosine(vector: SmallVector | undefined, question: Float32Array): number {
  if (vector?.bytes.length !== question.length) return Number.NaN;
  const { bytes, scale } = vector;
  let sum = 0;
  for (let at = 0; at < bytes.length; at++) sum += (bytes[at] ?? 0) * (question[at] ?? 0);
  return sum * scale;
}
