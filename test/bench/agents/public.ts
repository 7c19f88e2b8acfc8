import { fileURLToPath } from "node:url";
import { findEndpoints } from "../../../src/agent/tools/find-endpoints.ts";
import { loadCatalog } from "../../../src/registry/catalog/read-files.ts";
import { countTokens } from "gpt-tokenizer";
import { describedModels } from "../../support/described-models.ts";
import { printRows } from "../void/print-rows.ts";
import { irisIn } from "./iris-in.ts";
import { type PublicQuestion, publicTunedOn, publicUnseen } from "./linking/public-questions.ts";

const folder = fileURLToPath(new URL("../../../catalog", import.meta.url));
const signal = new AbortController().signal;

/**
 * Measures what `find_endpoints` says about public endpoints that have not been described: whether the right one stands first, and
 * how many of the terms that a right query needs are shown. None is asked.
 */
export async function runPublicBench(): Promise<void> {
  const published = [`${folder}/published`];
  const catalog = await loadCatalog({ dirs: [{ path: folder }], published, baseUrl: "http://localhost" });
  const { finder } = describedModels({
    entries: catalog.entries,
    catalog,
    published: (id) => catalog.published.facts(id),
  });
  await finder.settled();
  const tool = findEndpoints({ finder, due: { describedFirst: async () => [] } });
  const rows = [["", "right one first", "terms shown", "tokens a reply"]];
  for (const [name, asked] of Object.entries({ "tuned on": publicTunedOn, unseen: publicUnseen })) {
    let [first, shown, tokens] = [0, 0, 0];
    for (const each of asked) {
      const { text, data } = await tool.call(
        { question: each.question },
        { owner: "bench", signal, hint: (sentence) => sentence },
      );
      const best = firstOf(data["endpoints"]);
      const iris = irisIn(text);
      const found = each.terms.filter((term) => iris.has(term));
      if (process.env["FEDWAY_BENCH_TEXTS"] === name) process.stdout.write(report(each, best, found, text));
      if (each.endpoints.includes(best)) first++;
      shown += found.length;
      tokens += countTokens(text);
    }
    const all = asked.reduce((sum, { terms }) => sum + terms.length, 0);
    const mean = Math.round(tokens / asked.length);
    rows.push([
      `${asked.length} questions, ${name}`,
      `${first} of ${asked.length}`,
      `${shown} of ${all}`,
      String(mean),
    ]);
  }
  printRows("Public endpoints", rows);
}

const firstOf = (hits: unknown): string => {
  const [best] = Array.isArray(hits) ? hits : [];
  return String(best?.id ?? "");
};

function report({ question, endpoints, terms }: PublicQuestion, best: string, found: readonly string[], text: string) {
  const missing = terms.filter((term) => !found.includes(term));
  return `\n# ${question}\n${best} (${endpoints.join(" ")}), not shown: ${missing.join(" ")}\n${text}\n`;
}
