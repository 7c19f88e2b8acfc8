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
      const value = dot(columns, { at: row * n, and: column * n, from: row, to: n });
      inverse[row * n + column] = value;
      inverse[column * n + row] = value;
    }
  }
  return inverse;
}

interface Span {
  readonly at: number;
  readonly and: number;
  readonly from: number;
  readonly to: number;
}

/** Product of two rows of one matrix, from one column to another. */
function dot(values: Float64Array, { at, and, from, to }: Span): number {
  let total = 0;
  for (let k = from; k < to; k += 1) total += (values[at + k] ?? 0) * (values[and + k] ?? 0);
  return total;
}

function choleskyFactor(matrix: Float64Array, n: number): Float64Array | undefined {
  const lower = Float64Array.from(matrix);
  for (let column = 0; column < n; column += 1) {
    const head = column * n;
    const pivot = (lower[head + column] ?? 0) - dot(lower, { at: head, and: head, from: 0, to: column });
    if (!(pivot > smallestPivot)) return undefined;
    const root = Math.sqrt(pivot);
    lower[head + column] = root;
    for (let row = column + 1; row < n; row += 1) {
      const at = row * n;
      lower[at + column] = ((lower[at + column] ?? 0) - dot(lower, { at, and: head, from: 0, to: column })) / root;
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
      let total = 0;
      for (let k = column; k < row; k += 1) total += (lower[row * n + k] ?? 0) * (columns[head + k] ?? 0);
      columns[head + row] = -total / (lower[row * n + row] ?? 1);
    }
  }
  return columns;
}
