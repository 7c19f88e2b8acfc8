import oxigraph from "oxigraph";
import { describe, expect, it } from "vitest";
import { goldData } from "../../../support/dialect/gold-query.ts";
import { brokenQueries, habits } from "../../../support/dialect/habits.ts";
import { openCheck } from "./checked-catalog.ts";

const { checked, prepared } = openCheck();
const store = new oxigraph.Store();
store.load(goldData(), { format: "nt" });

/** The rows of an answer by their values: a column without a name may get any. */
function rowsOf(query: string): readonly string[] {
  const answer = store.query(query);
  if (!Array.isArray(answer)) throw new TypeError("no rows");
  const rows = answer.map((row) => (row instanceof Map ? [...row.values()].map(String).toSorted().join(" ") : ""));
  return /ORDER BY/.test(query) ? rows : rows.toSorted();
}

const hasRows = (query: string): boolean => rowsOf(query).some((row) => row !== "");

describe("queries with the habits of another language", () => {
  const broken = brokenQueries(16, 5, hasRows);

  it("are many, of many kinds", () => {
    expect(Object.keys(habits).length).toBeGreaterThan(55);
    expect(broken.length).toBeGreaterThan(300);
  });

  it.each(Object.keys(habits))("are offered as SPARQL writes them: %s", async (kind) => {
    let refused = 0;
    for (const { gold, text } of broken.filter((each) => each.kind === kind)) {
      const { valid, suggested, query, repairs } = await checked(text, { endpoint: "unseen" });
      // A habit may be legal in some queries: what runs is left alone.
      if (valid && suggested === undefined && repairs.length === 0) continue;
      refused++;
      const mended = suggested ?? query;
      expect(rowsOf(mended), `${text}\n${mended}`).toEqual(rowsOf(gold));
      expect(await checked(mended, { endpoint: "unseen" })).toMatchObject({ valid: true, repairs: [] });
    }
    expect(refused).toBeGreaterThan(0);
  });

  it("end at brackets that do not fit", async () => {
    for (const condition of ["EXISTS(?x a ?z)", "EXISTS)", "?y IN )", "NOT ) ?x", "?x + ) * ]"]) {
      const text = `SELECT ?x { ?x a ?y FILTER(${condition}) FILTER ${condition} } HAVING ${condition}`;
      expect(await checked(text, { endpoint: "unseen" })).toMatchObject({ valid: false, query: text });
    }
  });

  it.each(["?x = 'a' AND ", "PREFIX ", "/* ", "'a''b' ", "“", ":a#b ", "NOT NOT ", "CASE WHEN ", "<http://a "])(
    "end in bounded steps, whatever is repeated: %j",
    async (part) => {
      for (const length of [2_000, 90_000]) {
        const text = `SELECT * WHERE { ${part.repeat(length / part.length)}`;
        expect(await checked(text, { endpoint: "unseen" })).toMatchObject({ valid: false });
      }
    },
  );

  it("are not run without being asked, and each change says why", async () => {
    const text = "SELECT ?x { ?x a ?y } ORDER BY ?x DESC";
    expect(await prepared(text, { endpoint: "unseen" })).toMatchObject({ query: text, repairs: [] });
    expect(await checked(text, { endpoint: "unseen" })).toMatchObject({
      valid: false,
      query: text,
      suggested: "SELECT ?x { ?x a ?y } ORDER BY DESC(?x)",
      repairs: [
        {
          kind: "dialect-order",
          before: "?x DESC",
          after: "DESC(?x)",
          applied: false,
          why: expect.stringMatching("DESC"),
        },
      ],
      problem: { code: "QUERY_SYNTAX", where: { line: 1, column: 39 } },
    });
  });
});
