/** What the worker says, each time that it knows better; it ends when nothing is left to prove or its effort is spent. */
export type CoverMessage =
  | { readonly kind: "cover"; readonly chosen: readonly number[] }
  | { readonly kind: "bound"; readonly lowerBound: number };
