type Named = readonly [name: string, text: string];

const mebi = 1024 * 1024 - 100;
const times = (count: number, item: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join("");

/** Texts at the bounds of a query: of its bytes, of its tokens, of its nesting, and beyond them. */
export function largestQueries(): readonly Named[] {
  return [
    ["patterns", `SELECT * { ${times(1_480, (at) => `?s${at} ?p${at} ?o${at} . `)} }`],
    [
      "patterns of constants",
      `SELECT * { SERVICE <wide> { ${times(1_400, (at) => `?s <http://x.example/${at}> ?o${at} . `)} } }`,
    ],
    ["too many patterns", `SELECT * { ${times(40_000, () => "?s ?p ?o . ")} }`],
    [
      "VALUES",
      `SELECT * { SERVICE <wide> { ?s ?p ?o } VALUES ?s { ${times(12_000, (at) => `<http://x.example/${at}> `)} } }`,
    ],
    ["most VALUES", `SELECT * { VALUES ?s { ${times(49_000, (at) => `<x:${at}> `)} } SERVICE <wide> { ?s ?p ?o } }`],
    ["a comment", `ASK {} #${"x".repeat(mebi - 20)}`],
    ["blanks", `ASK {}${" \n".repeat(mebi / 2 - 20)}`],
    ["one literal", `ASK { SERVICE <wide> { ?s ?p "${"x".repeat(mebi - 60)}" } }`],
    ["one IRI", `ASK { SERVICE <wide> { ?s ?p <x:${"y".repeat(mebi - 60)}> } }`],
    ["escapes", `ASK { ?s ?p "${String.raw`\u0041`.repeat(mebi / 6 - 10)}" }`],
    [
      "services",
      `SELECT * { ${times(700, (at) => `{ SERVICE <wide> { ?s ?p${at} ?o } } UNION `)} { SERVICE <other> { ?s ?p ?o } } }`,
    ],
    ["unknown services", `SELECT * { ${times(1_000, (at) => `SERVICE <wid${at}> { ?s ?p ?o } `)} }`],
    [
      "a long filter",
      `SELECT * { SERVICE <wide> { ?s ?p ?o FILTER(?o = 0 ${times(1_400, (at) => `|| ?o = ${at} `)}) } }`,
    ],
    ["a long path", `SELECT * { SERVICE <wide> { ?s <x:p>${times(2_900, (at) => `/<x:${at}>`)} ?o } }`],
    ["unions", `SELECT * { SERVICE <wide> { ${times(600, (at) => `{ ?s <x:${at}> ?o } UNION `)} {} } }`],
    [
      "optionals",
      `SELECT * { SERVICE <wide> { ?s ?p ?o ${times(700, (at) => `OPTIONAL { ?s <x:${at}> ?o${at} } `)} } }`,
    ],
    ["variables", `SELECT ${times(2_900, (at) => `?v${at} `)} { SERVICE <wide> { ?s ?p ?o } }`],
    ["prefixes", `${times(1_900, (at) => `PREFIX p${at}: <http://x.example/${at}#>\n`)}ASK {}`],
    ["undeclared prefixes", `SELECT * { ${times(1_400, (at) => `?s p${at}:x ?o . `)} }`],
    ["misspelt", `SELCT * WHRE { ${times(1_400, (at) => `?s <x:${at}> ?o . `)} }`],
    ["unclosed", `SELECT * { ${times(1_400, (at) => `?s <x:${at}> "o . `)}`],
    ["braces", "{".repeat(mebi)],
    ["nested", `SELECT * ${"{".repeat(60)} ?s ?p ?o ${"}".repeat(60)}`],
    ["no language", "\u0001é".repeat(mebi / 3)],
    ["words", "word ".repeat(mebi / 5)],
    ["quotes", `ASK { ${'"'.repeat(mebi - 20)}`],
  ];
}
