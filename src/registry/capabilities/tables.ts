/** Writes an inline table as a pattern: its rows are the pattern's solutions, and no data is read. */
export type Table = (variables: readonly string[], rows: readonly (readonly string[])[]) => string;

const listed = (variables: readonly string[]): string => variables.map((name) => `?${name}`).join(" ");

/** By VALUES (SPARQL 1.1 Query, section 10.2); a cell may be `UNDEF`. */
export const valuesTable: Table = (variables, rows) => {
  if (variables.length === 1) return `VALUES ${listed(variables)} { ${rows.map((row) => row.join(" ")).join(" ")} }`;
  return `VALUES (${listed(variables)}) { ${rows.map((row) => `(${row.join(" ")})`).join(" ")} }`;
};

/** By BIND and UNION, for endpoints that do not know VALUES. */
export const bindTable: Table = (variables, rows) => {
  const branches = rows.map((row) => {
    const binds = row.map((cell, column) => `BIND(${cell} AS ?${variables[column] ?? ""})`);
    return `{ ${binds.join(" ")} }`;
  });
  return `{ ${branches.join(" UNION ")} }`;
};

const digits = (count: number): readonly (readonly string[])[] =>
  Array.from({ length: count }, (_, digit) => [String(digit)]);

/** One table a size, without a common variable: a join has as many solutions as the sizes' product. */
export const product = (table: Table, sizes: readonly number[]): string =>
  sizes.map((size, index) => table([`d${index}`], digits(size))).join(" ");
