import { heldOutOutcomes, type Outcome } from "../../support/dialect/held-out.ts";
import { writeReport } from "../proxy/report.ts";

/** Queries with habits of other languages: how many of each kind the check mends. */
export async function runDialectsBench(): Promise<void> {
  const tallies = new Map<string, Record<Outcome, number>>();
  const all = { mended: 0, wrong: 0, none: 0 };
  for await (const { kind, outcome } of heldOutOutcomes()) {
    const tally = tallies.get(kind) ?? { mended: 0, wrong: 0, none: 0 };
    tally[outcome]++;
    all[outcome]++;
    tallies.set(kind, tally);
  }
  process.stdout.write(
    `${"kind".padEnd(30)}${"mended".padStart(8)}${"offered wrong".padStart(15)}${"not offered".padStart(13)}\n`,
  );
  for (const [kind, { mended, wrong, none }] of [...tallies, ["all", all] as const]) {
    const cases = mended + wrong + none;
    const rate = `${mended}/${cases}`.padStart(8);
    process.stdout.write(`${kind.padEnd(30)}${rate}${String(wrong).padStart(15)}${String(none).padStart(13)}\n`);
  }
  await writeReport("agents-dialects", { all, kinds: Object.fromEntries(tallies) });
}
