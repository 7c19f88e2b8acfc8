/** An error of an expression: the expression around it has no value, or does not hold (SPARQL 1.1 Query, section 17.3). */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** Longest text that an expression or aggregate may compute, in characters. */
export const longestComputed = 1024 * 1024;

/** The error of an expression that computes a longer text. */
export const tooLong = (): ExpressionError => new ExpressionError("The computed text is longer than a mebibyte.");
