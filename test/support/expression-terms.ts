const xsd = (value: string, type: string): string => `"${value}"^^xsd:${type}`;

/** Dates, numbers and others by their datatype: valid, invalid, out of range and empty. */
const typed: Readonly<Record<string, readonly string[]>> = {
  integer: ["abc", "9".repeat(24), "9007199254740993", "", " 7 ", "+5"],
  byte: ["300"],
  unsignedInt: ["-1"],
  decimal: [`1.${"3".repeat(400)}`, "9".repeat(400)],
  double: ["1e400", "NaN", "INF", "x"],
  float: ["-INF"],
  date: ["2009-02-30", "2024-02-29", "-0001-01-01", "99999-12-31Z"],
  dateTime: ["2011-01-10T14:45:13.815-05:00", "2012-02-29T00:00:00Z", "2012-02-29T00:00:00", "2011-13-45T99:99:99", ""],
  time: ["24:00:00", "12:00:00+14:00"],
  duration: ["P1Y", "P"],
  yearMonthDuration: ["P1Y"],
  dayTimeDuration: ["PT36H", "-PT0.5S"],
  boolean: ["maybe", "1"],
  anyURI: ["x"],
};

const numbers = ["1", "0", "-3", "2.5", "1e3", "00", "true", "false"];
const strings = [
  '""',
  '"abc"',
  '"12"',
  '"a b"',
  '"é𝄞"',
  '"-"',
  '"%41"',
  '"en"',
  '"*"',
  '"i"',
  '"zz"',
  '"Z"',
  '"a\u00ADb"',
  '"\uFF5E"',
  '"/?&"',
  '"[a"',
  '"(a|b)*"',
];
const tagged = ['"abc"@en', '"chat"@fr-CA', '"x"@en-x-1234', '""@de', '"x"^^<urn:unknown>', '""^^<urn:unknown>'];
const iris = [
  "<http://e/a>",
  "<urn:x:y>",
  "<a:>",
  '"relative"',
  '"http://e/ü"',
  '"<>"',
  "rdf:langString",
  "xsd:string",
];
const long = [`"${"long ".repeat(400)}"`, `"${"1".repeat(3_000)}"`, '"$1\\\\$"'];

/** Terms as they are written in a query, with the prefixes `xsd` and `rdf`; `?unbound` is no term at all. */
export const generatedTerms: readonly string[] = [
  numbers,
  strings,
  tagged,
  iris,
  long,
  Object.entries(typed).flatMap(([type, values]) => values.map((value) => xsd(value, type))),
  ["?unbound"],
].flat();
