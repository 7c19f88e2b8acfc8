/** Turns gradients into directions of ascent. */
export interface AscentDirection {
  /** @param round the number of the step, from 1 on */
  next(gradient: Float64Array, round: number): Float64Array;
}

const [keepMean, keepSquare] = [0.9, 0.99];

/** Adam (Kingma, Ba 2015) without its step size, for gradients of this length. */
export function createAscentDirection(length: number): AscentDirection {
  const mean = new Float64Array(length);
  const square = new Float64Array(length);
  return {
    next(gradient, round) {
      const [meanScale, squareScale] = [1 - keepMean ** round, 1 - keepSquare ** round];
      return gradient.map((slope, at) => {
        const first = keepMean * (mean[at] ?? 0) + (1 - keepMean) * slope;
        const second = keepSquare * (square[at] ?? 0) + (1 - keepSquare) * slope * slope;
        mean[at] = first;
        square[at] = second;
        return first / meanScale / (Math.sqrt(second / squareScale) + 1e-9);
      });
    },
  };
}
