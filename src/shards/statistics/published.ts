/** A figure as it was published: what is undefined was not. */
export interface PublishedFigure {
  readonly mean?: number;
  readonly median?: number;
  readonly min?: number;
  readonly max?: number;
}

/**
 * Figures of Dobriy et al., Agentic SPARQL, section 4: 19 datasets, without wta_1. Shares are fractions of 1.
 */
export const published = {
  datasets: 19,
  rules: { mean: 3.7, median: 4, min: 2, max: 8 },
  vertical: { mean: 0.183 },
  class: { mean: 0.3042 },
  horizontal: { mean: 0.5128 },
  totalShards: 118,
  shards: { mean: 6.21, median: 6, min: 3, max: 14 },
  sizeVariation: { mean: 0.88 },
  impliedFanOut: { mean: 6.48, median: 6, min: 2, max: 14 },
  /** Counted by solutions. */
  noMatch: { mean: 0.0484 },
  oneShard: { mean: 0.2449 },
} as const satisfies Readonly<Record<string, PublishedFigure | number>>;
