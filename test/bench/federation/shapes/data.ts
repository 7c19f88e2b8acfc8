const v = (name: string): string => `<http://shapes.example/v#${name}>`;
const item = (number: number): string => `<http://a.example/item/${number}>`;
const maker = (number: number): string => `<http://c.example/maker/${number}>`;
const country = (number: number): string => `<http://d.example/country/${number}>`;
const integer = (value: number): string => `"${value}"^^<http://www.w3.org/2001/XMLSchema#integer>`;
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

/**
 * Four endpoints whose data are about the same items, ten times as many as in the first measurements; N-Triples by name.
 * @param share of the data that are measured
 */
export function shapeData(share = 1): Readonly<Record<string, string>> {
  /** How many items have the class v:Few. */
  const few = 200 * share;
  const items = 20_000 * share;
  const priced = 30_000 * share;
  const sales = 50_000 * share;
  const lines: Record<"a" | "b" | "c" | "d", string[]> = { a: [], b: [], c: [], d: [] };
  for (let number = 0; number < items; number++) {
    const self = item(number);
    if (number < few) lines.a.push(`${self} ${type} ${v("Few")} .`);
    lines.a.push(`${self} ${v("name")} "Item ${number}" .`);
    lines.a.push(`${self} ${v("group")} "group ${number % 100}" .`);
    lines.a.push(`${self} ${v("doi")} "10.1/${number}" .`);
    lines.c.push(`${self} ${v("maker")} ${maker(number % 50)} .`);
    if (number % 4 === 0) lines.c.push(`${self} ${v("rating")} ${integer(number % 11)} .`);
    if (number % 10 === 0) lines.c.push(`<http://c.example/work/${number}> ${v("identifier")} "10.1/${number}" .`);
  }
  for (let number = 0; number < priced; number++) {
    lines.b.push(`${item(number)} ${v("price")} ${integer((number * 7) % 1_000)} .`);
    lines.b.push(`${item(number)} ${v("registered")} "10.1/${number}" .`);
  }
  for (let number = 0; number < sales; number++) {
    const sale = `<http://b.example/sale/${number}>`;
    lines.b.push(`${sale} ${v("of")} ${item(number % (25_000 * share))} .`);
    lines.b.push(`${sale} ${v("amount")} ${integer(number % 97)} .`);
  }
  for (const name of ["b", "c", "d"] as const) lines[name].push(...offers(name, 5_000 * share));
  for (let number = 0; number < 40; number++)
    lines.b.push(`<http://b.example/code/${number}> ${v("code")} "${number}" .`);
  for (let number = 0; number < 50; number++) lines.d.push(`${maker(number)} ${v("country")} ${country(number % 7)} .`);
  for (let number = 0; number < 7; number++) lines.b.push(`${country(number)} ${v("label")} "Country ${number}" .`);
  return Object.fromEntries(Object.entries(lines).map(([name, each]) => [name, each.join("\n")]));
}

/** What several endpoints have of one kind; no subject is at two of them. */
const offers = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `<http://${name}.example/offer/${number}>`).flatMap((offer, number) => [
    `${offer} ${v("cost")} ${integer((number * 13) % 4_999)} .`,
    `${offer} ${v("seller")} ${maker(number % 20)} .`,
    `${offer} ${v("title")} "offer ${number % 100}" .`,
  ]);
