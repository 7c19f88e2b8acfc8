/** A pivot smaller than this does not count as positive: rounding must not make a matrix look definite. */
const smallestPivot = 1e-9;

/** The inverse of a symmetric n x n matrix (row by row), or undefined when it is not positive definite (Cholesky). */
export function inverseOfDefinite(matrix: Float64Array, n: number): Float64Array | undefined {
  const lower = choleskyFactor(matrix, n);
  if (lower === undefined) return undefined;
  const columns = inverseColumns(lower, n);
  const inverse = new Float64Array(n * n);
  for (let row = 0; row < n; row += 1) {
    for (let column = 0; column <= row; column += 1) {
      const value = dot(columns, columns, { at: row * n, and: column * n, from: row, to: n });
      inverse[row * n + column] = value;
      inverse[column * n + row] = value;
    }
  }
  return inverse;
}

/** A stretch of two arrays: the same columns of a row each, which start at `at` and `and`. */
interface Span {
  readonly at: number;
  readonly and: number;
  readonly from: number;
  readonly to: number;
}

const of = (values: Float64Array, at: number): number => values[at] ?? 0;

/** Product of two stretches. Four sums at once: one alone waits for each addition. */
function dot(left: Float64Array, right: Float64Array, { at, and, from, to }: Span): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const whole = from + ((to - from) & ~3);
  for (let k = from; k < whole; k += 4) {
    a += of(left, at + k) * of(right, and + k);
    b += of(left, at + k + 1) * of(right, and + k + 1);
    c += of(left, at + k + 2) * of(right, and + k + 2);
    d += of(left, at + k + 3) * of(right, and + k + 3);
  }
  for (let k = whole; k < to; k += 1) a += of(left, at + k) * of(right, and + k);
  return a + b + (c + d);
}

function choleskyFactor(matrix: Float64Array, n: number): Float64Array | undefined {
  const lower = Float64Array.from(matrix);
  for (let column = 0; column < n; column += 1) {
    const head = column * n;
    const pivot = (lower[head + column] ?? 0) - dot(lower, lower, { at: head, and: head, from: 0, to: column });
    if (!(pivot > smallestPivot)) return undefined;
    const root = Math.sqrt(pivot);
    lower[head + column] = root;
    for (let row = column + 1; row < n; row += 1) {
      const at = row * n;
      lower[at + column] =
        ((lower[at + column] ?? 0) - dot(lower, lower, { at, and: head, from: 0, to: column })) / root;
    }
  }
  return lower;
}

/** Columns of the inverse of a lower triangular matrix, each as a row. */
function inverseColumns(lower: Float64Array, n: number): Float64Array {
  const columns = new Float64Array(n * n);
  for (let column = 0; column < n; column += 1) {
    const head = column * n;
    columns[head + column] = 1 / (lower[head + column] ?? 1);
    for (let row = column + 1; row < n; row += 1) {
      const total = dot(lower, columns, { at: row * n, and: head, from: column, to: row });
      columns[head + row] = -total / (lower[row * n + row] ?? 1);
    }
  }
  return columns;
}
