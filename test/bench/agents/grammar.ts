import { type GrammarRequest, sparqlGrammar } from "../../../src/agent/grammar/sparql-grammar.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { parseQuery, withServiceUrls } from "../../../src/sparql/query.ts";
import { startSmallModel } from "../../support/engines/small-model.ts";
import { readGbnf, sentencesOf } from "../../support/grammar-sampler.ts";
import { descriptionTerms, publishedSources, type PublishedSource } from "../../support/published-questions.ts";
import { toCatalog, toEntry } from "../../unit/plan/plan-cases.ts";

/** Whether sentences of grammars are valid and name known terms, sampled and written by a small model. @throws Error when a sampled one is not */
export async function runGrammarBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const sources = publishedSources();
  const requests: readonly GrammarRequest[] = [
    ...sources.map((source) => ({ ...defaults, sources: [source] })),
    { ...defaults, sources, asFederation: true },
  ];
  await sample(requests, quick ? 1_000 : 10_000);
  await ask(sources, quick ? 1 : 3);
}

const defaults = { asFederation: false, maxBytes: 65_536, dialect: "gbnf" } as const;

async function sample(requests: readonly GrammarRequest[], count: number): Promise<void> {
  const share = Math.ceil(count / requests.length / 2);
  const failures: string[] = [];
  let sampled = 0;
  for (const [seed, request] of requests.entries()) {
    const began = performance.now();
    const { grammar, text, leftOut, total } = await sparqlGrammar(request);
    const ms = performance.now() - began;
    const sentences = [
      ...sentencesOf(grammar.rules, { start: "query", seed, count: share }),
      ...sentencesOf(readGbnf(text), { start: "root", seed: seed + 100, count: share }),
    ];
    sampled += sentences.length;
    failures.push(...sentences.flatMap((sentence) => faultOf(sentence, request) ?? []));
    const name = request.asFederation ? `federation of ${request.sources.length}` : (request.sources[0]?.id ?? "");
    const size = `${Buffer.byteLength(text)} bytes, ${total - leftOut} of ${total} terms, made in ${ms.toFixed(0)} ms`;
    process.stdout.write(`${name.padEnd(18)}${size}, ${sentences.length} sentences sampled\n`);
  }
  process.stdout.write(
    `sampled: ${sampled - failures.length} of ${sampled} parse, are planned and name known terms only\n`,
  );
  if (failures.length > 0) throw new Error(`a sentence is not valid: ${failures[0]}`);
}

const urlOf = (id: string): string => toEntry(id.replaceAll("_", "-")).url;

/** Why a text is no query that the planner takes, or which term of it is unknown where it is asked; undefined: it is fine. */
function faultOf(sentence: string, { sources, asFederation }: GrammarRequest): string | undefined {
  try {
    const { text } = withServiceUrls(sentence, urlOf);
    const catalog = toCatalog(sources.map(({ id }) => toEntry(id.replaceAll("_", "-"))));
    const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
    const endpointId = asFederation ? undefined : sources[0]?.id.replaceAll("_", "-");
    const { plan } = planner.plan({ text, endpointId, strict: false, defaultGraphs: [], namedGraphs: [] });
    if (plan.kind === "rejected") return `${plan.reason.message}: ${sentence}`;
    for (const { service, terms } of parseQuery(text).usedTerms) {
      const own = sources.filter(({ id }) => !asFederation || urlOf(id) === service);
      const known = new Set(own.flatMap(({ description }) => descriptionTerms(description)));
      const unknown = terms.find(({ iri }) => !known.has(iri));
      if (unknown) return `${unknown.iri} is unknown: ${sentence}`;
    }
    return undefined;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}: ${sentence}`;
  }
}

const system = "Answer with one SPARQL query and nothing else.";
/** More than the longest sentence of these grammars has. */
const maxTokens = 1_500;

async function ask(sources: readonly PublishedSource[], questions: number): Promise<void> {
  const model = await startSmallModel();
  try {
    let [asked, free, constrained] = [0, 0, 0];
    for (const source of sources) {
      const request = { ...defaults, sources: [source] };
      const grammar = (await sparqlGrammar(request)).text;
      for (const question of source.questions.slice(0, questions)) {
        asked++;
        if (faultOf(await model.ask({ system, question, maxTokens: 150 }), request) === undefined) free++;
        const fault = faultOf(await model.ask({ system, question, grammar, maxTokens }), request);
        if (fault === undefined) constrained++;
        else process.stdout.write(`not valid: ${fault}\n`);
      }
    }
    process.stdout.write(
      `SmolLM2-135M, free: ${free} of ${asked} valid; with the grammar: ${constrained} of ${asked}\n`,
    );
  } finally {
    await model.close();
  }
}
