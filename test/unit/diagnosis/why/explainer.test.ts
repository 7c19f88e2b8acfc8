import type * as RDF from "@rdfjs/types";
import { array, assert, asyncProperty, constant, constantFrom, oneof, tuple } from "fast-check";
import oxigraph from "oxigraph";
import { describe, expect, it } from "vitest";
import { createExplainer } from "../../../../src/diagnosis/why/explainer.ts";
import type { Probe } from "../../../../src/query/probe.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import { Admission } from "../../../../src/query/admission.ts";
import { literalFromParts, nodeFromIri } from "../../../../src/results/terms.ts";
import { catalogEntry, createCatalog } from "../../../support/catalog-entry.ts";

interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly "xml:lang"?: string;
  readonly datatype?: string;
}

const store = new oxigraph.Store();
for (let at = 0; at < 12; at++) {
  const subject = `<http://x/${at}>`;
  store.load(
    `${subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://v/C${at % 3}> .
${subject} <http://v/p${at % 4}> <http://x/${(at * 5 + 1) % 12}> .
${subject} <http://v/name> "Name ${at % 5}" .
${subject} <http://v/size> "${at % 7}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
    { format: "application/n-triples" },
  );
}

const rowsOf = (query: string): readonly Readonly<Record<string, JsonTerm>>[] =>
  (
    JSON.parse(store.query(query, { results_format: "json" }) as unknown as string) as {
      results: { bindings: Record<string, JsonTerm>[] };
    }
  ).results.bindings;

const toTerm = ({ type, value, datatype, "xml:lang": language }: JsonTerm): RDF.Term =>
  type === "uri" ? nodeFromIri(value) : literalFromParts(value, language, datatype);

const overStore: Probe = async ({ text, maxRows }) => ({
  rows: rowsOf(text)
    .slice(0, maxRows)
    .map((row) => new Map(Object.entries(row).map(([name, term]) => [name, toTerm(term)]))),
  requests: 1,
  byFacts: false,
});

type Known = Parameters<typeof createExplainer>[0];

function explainerOver(run: Probe, { now = () => 0, ...more }: Partial<Known> = {}) {
  const catalog = createCatalog([catalogEntry("a")], [], { publicUrl: "http://fedway.example", federations: [] });
  const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
  const admission = new Admission({ maxConcurrent: 20 });
  return createExplainer({ run, planner, catalog, admission, maxRequests: 100, now, ...more });
}

const explain = async (query: string, maxQuestions = 20) =>
  explainerOver(overStore, { maxQuestions }).explain(
    { query, endpoint: "a" },
    { signal: new AbortController().signal },
  );

const variable = constantFrom("?a", "?b", "?c");
const node = oneof(
  { weight: 4, arbitrary: variable },
  { weight: 1, arbitrary: constantFrom("<http://x/1>", "<http://x/99>") },
);
const triple = oneof(
  tuple(variable, constant("a"), constantFrom("<http://v/C0>", "<http://v/C1>", "<http://v/C9>")),
  tuple(node, constantFrom("<http://v/p0>", "<http://v/p1>", "<http://v/p2>", "<http://v/P3>"), node),
  tuple(variable, constant("<http://v/name>"), constantFrom("?n", '"Name 1"', '"name 2"', '"Name 3"@en')),
  tuple(variable, constant("<http://v/size>"), constantFrom("?m", "3", '"4"')),
);
const other = constantFrom(
  'FILTER(?n = "name 4")',
  "FILTER(?m > 5)",
  "FILTER(?m < 4 && BOUND(?a))",
  "OPTIONAL { ?a <http://v/p3> ?o }",
  "MINUS { ?a a <http://v/C1> }",
  "{ ?a a <http://v/C0> } UNION { ?a <http://v/nothing> ?u }",
  "{ SELECT ?a WHERE { ?a <http://v/size> ?m FILTER(?m > 2) } }",
  "VALUES ?a { <http://x/1> <http://x/2> }",
);
/** Lines of a group, each a part of it. */
const group = tuple(array(triple, { minLength: 1, maxLength: 5 }), array(other, { maxLength: 2 })).map(
  ([triples, others]) => triples.map((terms) => `${terms.join(" ")} .`).concat(others),
);

const has = (lines: readonly string[]): boolean => rowsOf(`SELECT * WHERE { ${lines.join("\n")} } LIMIT 1`).length > 0;
const isFilter = (line: string): boolean => line.startsWith("FILTER");

/** Whether a line is why there are no solutions: alone, because there are some without it, or from where it stands on. */
function isToBlame(lines: readonly string[], at: number): boolean {
  const rest = lines.toSpliced(at, 1);
  const before = lines.slice(0, at).filter((line) => !isFilter(line));
  const upTo = lines.slice(0, at + 1).filter((line, index) => index === at || !isFilter(line));
  const patterns = lines.filter((line) => !isFilter(line));
  const isFirstFailing = isFilter(lines[at] ?? "") ? has(patterns) : has(before) && !has(upTo);
  return !has([lines[at] ?? ""]) || has(rest) || has(rest.filter((line) => !isFilter(line))) || isFirstFailing;
}

describe("why a query has no solutions", () => {
  it("is never told of one that has some; what is blamed is to blame, and what is offered mends", async () => {
    let [explained, mended] = [0, 0];
    await assert(
      asyncProperty(group, async (lines) => {
        const query = `SELECT * WHERE {\n${lines.join("\n")}\n}`;
        const { problem, questions } = await explain(query);
        expect(problem === null).toBe(has(lines));
        expect(questions).toBeLessThanOrEqual(20);
        if (problem === null || problem.code === "EMPTY_UNDECIDED") return;
        explained += 1;
        const pattern = problem.where?.pattern ?? "";
        const blamed = lines.flatMap((line, at) => (line.includes(pattern) ? [at] : []));
        expect(
          blamed.some((at) => isToBlame(lines, at)),
          `${pattern} in\n${query}`,
        ).toBe(true);
        for (const { before, after } of problem.repairs ?? []) {
          if ((problem.repairs?.length ?? 0) > 1 && problem.code !== "EMPTY_FILTER") break;
          mended += 1;
          expect(query.split(before)).toHaveLength(2);
          expect(
            rowsOf(query.replace(before, () => after)).length,
            `${before} -> ${after} in\n${query}`,
          ).toBeGreaterThan(0);
        }
      }),
      { numRuns: 100, seed: 16 },
    );
    expect(explained).toBeGreaterThan(30);
    expect(mended).toBeGreaterThan(15);
  });

  const broken = 'SELECT * WHERE { ?a a <http://v/C0> ; <http://v/name> "name 1" . ?a <http://v/size> ?m }';

  it("keeps within its number of questions and says what it knows by then", async () => {
    const { problem, questions } = await explain(broken, 1);
    expect(questions).toBe(1);
    expect(problem).toMatchObject({ code: "EMPTY_PATTERN", where: { pattern: '?a <http://v/name> "name 1"' } });
  });

  const unchecked = { valid: true, repairs: [], contradictions: [], unknown: [], next: "" };
  /** A check that offers these in the place of the token at an index. */
  const offering =
    (at: number, kind: string, ...terms: readonly string[]): NonNullable<Known["check"]> =>
    async ({ query }) => ({
      ...unchecked,
      query,
      offers: terms.map((after) => ({
        repair: { kind, before: query.split(" ")[at] ?? "", after, applied: false },
        edits: [{ range: { from: at, to: at + 1 }, replacement: after }],
        score: 0.6,
        why: "spelling",
      })),
    });

  it("tries values of the check that are worded like a literal", async () => {
    const query = 'SELECT * WHERE { ?a <http://v/name> "the fourth of them" ; <http://v/size> ?m }';
    const check = offering(6, "value", '"Name 9"', '"Name 4"');
    const { problem } = await explainerOver(overStore, { check }).explain(
      { query, endpoint: "a" },
      { signal: new AbortController().signal },
    );
    expect(problem).toMatchObject({
      suggestions: expect.arrayContaining([expect.objectContaining({ term: '"Name 4"' })]),
    });
    expect(problem?.repairs).toBeUndefined();
  });

  it.each([
    ["direction-reversed", "EMPTY_DIRECTION", "^<http://v/p0>"],
    ["property", "EMPTY_TERM", "<http://v/p1>"],
    ["node-skipped", "EMPTY_TERM", "<http://v/p1>/<http://v/p2>"],
  ])("asks what the check offers beside the whole, in one question: %s", async (kind, code, after) => {
    const query = "SELECT * WHERE { <http://x/1> <http://v/p0> ?b . ?b <http://v/size> ?m }";
    const { problem, questions } = await explainerOver(overStore, {
      check: offering(5, kind, "<http://v/none>", after),
    }).explain({ query, endpoint: "a" }, { signal: new AbortController().signal });
    expect({ problem, questions }).toMatchObject({
      problem: {
        code,
        detail: expect.stringContaining(`with ${after} instead of <http://v/p0> the query has some (spelling)`),
        repairs: [{ before: "<http://v/p0>", after }],
      },
      questions: 1,
    });
  });

  it("asks about the patterns that contradict each other, before it looks for them", async () => {
    const query = 'SELECT * WHERE { ?a <http://v/name> "Name 1" . ?a <http://v/size> 3 . ?a a ?c }';
    const contradictions = [{ certain: true, isEmpty: true, message: "", places: [5, 9], statements: [] }];
    const check: Known["check"] = async () => ({ ...unchecked, query, contradictions });
    const asked = async (more: Partial<Known>) =>
      explainerOver(overStore, more).explain({ query, endpoint: "a" }, { signal: new AbortController().signal });
    const [found, without] = [await asked({ check }), await asked({})];
    expect(found.problem).toMatchObject({ code: without.problem?.code, repairs: without.problem?.repairs });
    expect(found.questions).toBe(without.questions - 1);
  });

  it.each([
    ['?a <http://v/name> "Name 7"', ['"Name 0"', '"Name 1"', '"Name 2"', '"Name 3"', '"Name 4"']],
    ['?a <http://v/name> "name of them 4"', ['"Name 4"']],
  ])("never takes another value for the one that is written: %s", async (pattern, values) => {
    const { problem } = await explain(`SELECT * WHERE { ${pattern} . ?a <http://v/size> ?m }`);
    expect(problem?.repairs).toBeUndefined();
    expect(problem?.suggestions?.map(({ term }) => term)).toEqual(expect.arrayContaining(values));
    expect(problem).toMatchObject({ next: expect.stringContaining("Perhaps there is no answer") });
  });

  it("asks parts one by one where an endpoint fails on many together", async () => {
    const fussy: Probe = async (request) => {
      if (request.text.includes("UNION")) throw new FedwayError("ENDPOINT_REJECTED_QUERY", "no UNION here");
      return overStore(request);
    };
    const { problem } = await explainerOver(fussy).explain(
      { query: broken, endpoint: "a" },
      { signal: new AbortController().signal },
    );
    expect(problem).toMatchObject({ code: "EMPTY_VALUE", repairs: [{ before: '"name 1"', after: '"Name 1"' }] });
  });

  describe("where facts keep endpoints from being asked", () => {
    /** Nobody is asked about a property that facts say is missing. */
    const lacking =
      (property: string): Probe =>
      async (request) => {
        const isLeftOut = request.prune === true && request.text.includes(property);
        const answer = await overStore(isLeftOut ? { ...request, text: "SELECT * { FILTER(false) }" } : request);
        return { ...answer, byFacts: isLeftOut };
      };
    const terms = {
      hasTerm: (): "no" => "no",
      endpointsWith: () => [],
      descriptionVersion: () => "2026-01-02T03:04:05Z",
    } as const;
    const explained = (property: string, query: string, maxQuestions = 20) => {
      const explainer = explainerOver(lacking(property), { terms, maxQuestions });
      return explainer.explain({ query, endpoint: "a" }, { signal: new AbortController().signal });
    };
    it.each([
      [
        "the query has solutions after all",
        "v/name",
        "{ ?a <http://v/name> ?n }",
        20,
        "EMPTY_OUTDATED",
        /say that it has none: .* \(asked now\)\.$/,
      ],
      [
        "another part is to blame",
        "v/name",
        "{ ?a <http://v/name> ?n ; <http://v/none> ?m }",
        20,
        "EMPTY_TERM",
        /^\?a <http:\/\/v\/none> .* \(asked now\)\.$/,
      ],
      ["they are right", "v/none", "{ ?a <http://v/none> ?n }", 20, "EMPTY_PATTERN", /not even alone \(asked now\)\.$/],
      [
        "nothing more may be asked",
        "v/none",
        "{ ?a <http://v/none> ?n }",
        4,
        "EMPTY_PATTERN",
        /alone \(by the description of 2026-01-02 03:04\)\.$/,
      ],
    ])("%s", async (_, property, where, most, code, detail) => {
      const { problem } = await explained(property, `SELECT * ${where}`, most);
      expect(problem).toMatchObject({ code, detail: expect.stringMatching(detail) });
      const isOffered = problem?.next?.includes("prune=false") === true;
      expect(isOffered).toBe(!problem?.detail.includes("asked now") || code === "EMPTY_OUTDATED");
    });
  });

  describe("what the check knows is asked first", () => {
    const hasTerm: NonNullable<Known["terms"]>["hasTerm"] = (_, { iri }) => (iri.endsWith("nme") ? "no" : "yes");
    const terms = { hasTerm, endpointsWith: () => [], descriptionVersion: () => "2026-01-02T03:04:05Z" } as const;
    const suggesting = (replacement: string): Known["check"] => {
      const repair = { kind: "term-unknown", before: "<http://v/nme>", after: replacement, applied: false };
      const edits = [{ range: { from: 4, to: 5 }, replacement }];
      const term = { kind: "property", iri: "http://v/nme", endpoints: ["a"], certain: true, elsewhere: [] } as const;
      const unknown = [{ ...term, nearest: [{ term: replacement, score: 0.9, why: "spelling" }] }];
      return async ({ query }) => ({
        ...unchecked,
        query,
        unknown,
        offers: [{ repair, edits, score: 0.9, why: "spelling" }],
      });
    };
    const explained = (check: Known["check"], run: Probe = overStore) =>
      explainerOver(run, { terms, check }).explain(
        { query: "SELECT * { ?a <http://v/nme> ?n }", endpoint: "a" },
        { signal: new AbortController().signal },
      );

    it("together with what it suggests, in one question", async () => {
      expect(await explained(suggesting("<http://v/name>"))).toMatchObject({
        problem: {
          code: "EMPTY_TERM",
          detail: "?a <http://v/nme> ?n has no solutions at a, which has no property <http://v/nme> (asked now).",
          repairs: [{ before: "<http://v/nme>", after: "<http://v/name>" }],
          next: "Replace <http://v/nme> by <http://v/name>; the query then has solutions (checked).",
        },
        questions: 1,
      });
    });

    it("and the parts are looked into where the suggestion has no solutions", async () => {
      const { problem, questions } = await explained(suggesting("<http://v/none>"));
      expect(problem).toMatchObject({ code: "EMPTY_TERM", repairs: [{ after: "<http://v/name>" }] });
      expect(questions).toBeGreaterThan(1);
    });

    it("and is outdated where the endpoint has the term after all", async () => {
      const renamed: Probe = (request) => overStore({ ...request, text: request.text.replaceAll("v/nme", "v/name") });
      expect((await explained(suggesting("<http://v/size>"), renamed)).problem).toMatchObject({
        code: "EMPTY_OUTDATED",
      });
    });
  });

  it("is not known where nothing can be asked", async () => {
    const failing: Probe = async () => {
      throw new FedwayError("ENDPOINT_UNREACHABLE", "gone");
    };
    const { problem } = await explainerOver(failing).explain(
      { query: broken, endpoint: "a" },
      { signal: new AbortController().signal },
    );
    expect(problem).toMatchObject({ code: "EMPTY_UNDECIDED", status: 200 });
    expect(problem?.repairs).toBeUndefined();
  });

  describe("is bounded by questions", () => {
    /** Each question takes this long by the clock. */
    const slowly = (ms: number, run: Probe = overStore) => {
      let [time, asked] = [0, 0];
      const probe: Probe = (request) => {
        time += ms;
        asked += 1;
        return run(request);
      };
      const explainer = explainerOver(probe, { now: () => time });
      const ask = (timeoutMs?: number) =>
        explainer.explain({ query: broken, endpoint: "a" }, { signal: new AbortController().signal, timeoutMs });
      return { ask, asked: () => asked };
    };

    it("and gives the same answer whatever the clock says, within the time of the request", async () => {
      const [quick, slow] = [slowly(0), slowly(5_000)];
      const told = await Promise.all([quick.ask(1_000), slow.ask(60_000)]);
      const { statements: _, ...problem } = told[0]?.problem ?? {};
      expect(told[1]).toMatchObject({ problem, questions: told[0]?.questions, complete: true });
      expect(told[0]).toMatchObject({ problem: { code: "EMPTY_VALUE" }, questions: 3 });
    });

    it("keeps what was found, but nothing that the end of the request's time has cut", async () => {
      const { ask, asked } = slowly(5_000);
      expect(await ask(4_000)).toMatchObject({ problem: { code: "EMPTY_PATTERN" }, questions: 1, complete: false });
      expect(await ask(60_000)).toMatchObject({ problem: { code: "EMPTY_VALUE" }, complete: true });
      const before = asked();
      expect(await ask(1)).toMatchObject({ problem: { code: "EMPTY_VALUE" } });
      expect(asked()).toBe(before);
    });

    it("asks anew where the last time was undecided", async () => {
      let fails = true;
      const { ask } = slowly(0, async (request) => {
        if (fails) throw new FedwayError("ENDPOINT_UNREACHABLE", "gone");
        return overStore(request);
      });
      expect(await ask()).toMatchObject({ problem: { code: "EMPTY_UNDECIDED" } });
      fails = false;
      expect(await ask()).toMatchObject({ problem: { code: "EMPTY_VALUE" } });
    });
  });

  it("is asked once for all who ask the same at once, and no longer when all have left", async () => {
    let asked = 0;
    const signals: AbortSignal[] = [];
    const never: Probe = ({ signal }) => {
      asked += 1;
      signals.push(signal);
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new FedwayError("CANCELLED", "left")), { once: true });
      });
    };
    const explainer = explainerOver(never);
    const [one, two] = [new AbortController(), new AbortController()];
    const waiting = [one, two].map(({ signal }) => explainer.explain({ query: broken, endpoint: "a" }, { signal }));
    one.abort();
    await expect(waiting[0]).rejects.toMatchObject({ code: "CANCELLED" });
    expect(signals[0]?.aborted).toBe(false);
    two.abort();
    await expect(waiting[1]).rejects.toMatchObject({ code: "CANCELLED" });
    expect(signals[0]?.aborted).toBe(true);
    expect(asked).toBe(1);
  });
});
