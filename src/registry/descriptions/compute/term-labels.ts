import { bestTexts, textProperties } from "../term-texts.ts";
import { isWritable } from "../values.ts";
import type { FactBase } from "./fact-base.ts";
import { termTextsQuery } from "./queries.ts";
import { ask, type Run } from "./run.ts";

/** Terms that are asked for: the most frequent ones. */
const mostTerms = 2_000;
const mostRows = 20_000;

/**
 * Reads the endpoint's own names of its classes and properties: from the described data and, for terms without a name
 * there, in any named graph, where many keep their ontology.
 * @param isRead all triples of the data were read, names included
 */
export async function computeTermTexts(run: Run, isRead: boolean): Promise<void> {
  const { base, todo, dialect } = run;
  if (!todo.isOpen("labels")) return;
  const iris = new Set([...base.classes.keys(), ...base.properties.keys()]);
  for (const { properties } of base.classes.values()) for (const iri of properties.keys()) iris.add(iri);
  const wanted = [...iris].filter(isWritable).slice(0, mostTerms);
  const failed = isRead ? undefined : await askTexts(run, wanted, "described");
  const missing = wanted.filter((iri) => !base.terms.has(iri));
  const stillFailed =
    failed ?? (dialect.named || hasNoGraphs(base) ? undefined : await askTexts(run, missing, "any graph"));
  todo.close("labels", stillFailed);
}

const hasNoGraphs = ({ namedGraphs, graphsBeside }: FactBase): boolean =>
  graphsBeside && namedGraphs.complete && namedGraphs.size === 0;

/** @returns why not everything was answered; one batch that fails ends it, as the others would fail alike */
async function askTexts(run: Run, iris: readonly string[], where: "described" | "any graph") {
  const { base, dialect, mostKeys } = run;
  const size = Math.max(1, Math.min(mostKeys, batchSize));
  for (let at = 0; at < iris.length; at += size) {
    const batch = iris.slice(at, at + size);
    const query = termTextsQuery({ iris: batch, properties: textProperties, where }, dialect);
    const outcome = await ask(run, { query, level: 2, maxRows: mostRows });
    if (!outcome.ok) return { why: outcome.why, record: outcome.record };
    const rows = Map.groupBy(outcome.answer.rows, (row) => row.get("t")?.value);
    for (const iri of batch) {
      const own = rows.get(iri) ?? [];
      const texts = bestTexts((property) =>
        own.filter((row) => row.get("p")?.value === property).flatMap((row) => row.get("l") ?? []),
      );
      if (texts) base.terms.set(iri, { iri, ...texts, status: "exists", record: outcome.record });
    }
  }
  return undefined;
}

const batchSize = 100;
