import { itemAt } from "../../../../src/values.ts";
import { type Html, html } from "../../../../src/html.ts";
import type { BenchmarkPackage } from "../../package/open-package.ts";
import type { PackagedQuery } from "../../package/package-items.ts";
import { section, standalonePage } from "../../report/report-page.ts";
import { wideTable } from "../../report/report-tables.ts";
import { brief, numberText } from "../../report/words.ts";
import { engineForms, type EngineRecord } from "./measure-engines.ts";

/** Figures of an engine for one form, over all queries or those of a stratum. */
interface EngineFigures extends Pick<EngineRecord, "engine" | "form"> {
  readonly group: string;
  readonly queries: number;
  readonly right: number;
  readonly wrong: number;
  /** Number of failed queries by code. */
  readonly failed: Readonly<Record<string, number>>;
  /** Of a query, on average; null: unknown of some of them. */
  readonly requests: number | null;
  readonly bytes: number | null;
  readonly medianMs: number;
  readonly totalMs: number;
}

const everyQuery = "all";

/** The strata of a query, which include the kinds of rules that took its shards apart. */
function strataOf(query: PackagedQuery, { manifest }: Of) {
  const kinds = manifest.build.rules.flatMap(({ name, kind }) => (query.apartBy.includes(name) ? [kind] : []));
  return [...new Set(query.strata ?? kinds)];
}

type Of = Pick<BenchmarkPackage, "manifest" | "queries">;

/** The figures of all records: of all queries first, then by stratum. */
export function engineFigures(records: readonly EngineRecord[], of: Of): readonly EngineFigures[] {
  const grouped = records.flatMap((record) => {
    const query = of.queries.get(record.query);
    const groups = query === undefined ? [] : [everyQuery, ...strataOf(query, of)];
    return groups.map((group) => ({ group, record }));
  });
  const groups = [...new Set([everyQuery, ...grouped.map(({ group }) => group).toSorted()])];
  const engines = [...new Set(records.map(({ engine }) => engine))];
  return groups.flatMap((group) => {
    const own = grouped.filter((each) => each.group === group).map(({ record }) => record);
    return engineForms.flatMap((form) =>
      engines.flatMap((engine) => {
        const found = own.filter((record) => record.form === form && record.engine === engine);
        return found.length === 0 ? [] : [{ engine, form, group, ...figuresOf(found) }];
      }),
    );
  });
}

function figuresOf(records: readonly EngineRecord[]) {
  const failed: Record<string, number> = {};
  for (const { verdict, code = "unknown" } of records) if (verdict === "failed") failed[code] = (failed[code] ?? 0) + 1;
  const times = records.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return {
    queries: records.length,
    right: records.filter(({ verdict }) => verdict === "right").length,
    wrong: records.filter(({ verdict }) => verdict === "wrong").length,
    failed,
    requests: mean(records.map(({ requests }) => requests)),
    bytes: mean(records.map(({ bytes }) => bytes)),
    medianMs: itemAt(times, times.length >> 1),
    totalMs: times.reduce((sum, ms) => sum + ms, 0),
  };
}

function mean(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined);
  return known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

const heads = "Queries,Form,Engine,Asked,Right,Wrong,Failed,Requests a query,kB a query,Median ms,Total s".split(",");

const cellsOf = (each: EngineFigures): readonly string[] => [
  each.group,
  each.form,
  each.engine,
  numberText(each.queries),
  numberText(each.right),
  numberText(each.wrong),
  Object.entries(each.failed)
    .map(([code, count]) => `${count} ${code}`)
    .join(", ") || "0",
  each.requests?.toFixed(1) ?? "unknown",
  each.bytes === null ? "unknown" : (each.bytes / 1_000).toFixed(1),
  numberText(each.medianMs),
  (each.totalMs / 1_000).toFixed(1),
];

/** Heads and rows, as text. */
export const engineRows = (figures: readonly EngineFigures[]): readonly (readonly string[])[] => [
  heads,
  ...figures.map(cellsOf),
];

/** The queries that have another answer than gold, or none. */
export const engineFaults = (records: readonly EngineRecord[]): readonly string[] =>
  records.flatMap(({ engine, form, query, verdict, code }) =>
    verdict === "right" ? [] : [`${query} (${form}, ${engine}): ${code ?? verdict}`],
  );

const table = (figures: readonly EngineFigures[]): Html =>
  wideTable(
    "Engines",
    html`<table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>
${figures.map((each) => html`<tr>${cellsOf(each).map((cell) => html`<td>${brief(cell, 200)}</td>`)}</tr>`)}</tbody></table>`,
  );

/** The figures as one HTML file: nothing runs, nothing is loaded. */
export function enginePage(records: readonly EngineRecord[], of: Of): string {
  const title = `Engines over ${brief(of.manifest.title, 200)}`;
  const figures = engineFigures(records, of);
  const all = figures.filter(({ group }) => group === everyQuery);
  const strata = figures.filter(({ group }) => group !== everyQuery);
  const faults = engineFaults(records).map((fault) => html`<li>${brief(fault, 300)}</li>`);
  return standalonePage(
    title,
    html`<header><h1>${title}</h1><p class="lead">Each query was asked without a model. Requests and bytes are those at the shards.</p></header><main>
${section("All queries", table(all))}
${section("By stratum and kind of rules", table(strata))}
${section("Wrong and failed", faults.length === 0 ? html`<p>None.</p>` : html`<ul>${faults}</ul>`)}</main>
`,
  );
}
