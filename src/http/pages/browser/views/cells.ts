import type { Parser } from "@zazuko/yasr";

/** An answer as the views draw it. */
export interface Cells {
  /** Names of the variables. */
  readonly columns: readonly string[];
  readonly rows: readonly Parser.Binding[];
  /** Columns with numbers only, those of degrees left out. */
  readonly numbers: readonly string[];
  /** Columns with places, when there are any. */
  readonly places: Places | undefined;
  /** Triples of a CONSTRUCT or DESCRIBE answer. */
  readonly triples: ReturnType<Parser["getStatements"]>;
}

/** One column of WKT literals, or two of WGS 84 degrees. */
type Places = { readonly wkt: string } | { readonly latitude: string; readonly longitude: string };

const known = new WeakMap<Parser, Cells>();

/** Reads an answer once. */
export function cells(results: Parser): Cells {
  const found = known.get(results) ?? read(results);
  known.set(results, found);
  return found;
}

function read(results: Parser): Cells {
  const rows = results.getBindings() ?? [];
  // An ASK has no variables, whatever the type says.
  const columns = rows.length === 0 ? [] : results.getVariables();
  const numeric = columns.filter((column) => holds(rows, column, isNumber));
  const places = placesOf(rows, columns, numeric);
  const degrees: readonly string[] = places === undefined ? [] : Object.values(places);
  const numbers = numeric.filter((column) => !degrees.includes(column));
  return { columns, rows, numbers, places, triples: results.getStatements() ?? [] };
}

function placesOf(
  rows: readonly Parser.Binding[],
  columns: readonly string[],
  numbers: readonly string[],
): Places | undefined {
  const wkt = columns.find((column) => holds(rows, column, isWkt));
  if (wkt !== undefined) return { wkt };
  const latitude = numbers.find((column) => /^lat(itude)?$/i.test(column));
  const longitude = numbers.find((column) => /^(long?|lng|longitude)$/i.test(column));
  return latitude === undefined || longitude === undefined ? undefined : { latitude, longitude };
}

/** True when the column has a value and all its values pass. */
function holds(rows: readonly Parser.Binding[], column: string, test: (cell: Parser.BindingValue) => boolean): boolean {
  const values = rows.flatMap((row) => row[column] ?? []);
  return values.length > 0 && values.every(test);
}

const numericType =
  /^http:\/\/www\.w3\.org\/2001\/XMLSchema#(integer|decimal|double|float|(unsigned)?(int|long|short|byte)|unsignedInt|(non)?(negative|positive)Integer|nonNegativeInteger|nonPositiveInteger)$/i;

const isNumber = ({ datatype, value }: Parser.BindingValue): boolean =>
  numericType.test(datatype ?? "") && Number.isFinite(Number(value));

const isWkt = ({ datatype }: Parser.BindingValue): boolean =>
  datatype === "http://www.opengis.net/ont/geosparql#wktLiteral";
