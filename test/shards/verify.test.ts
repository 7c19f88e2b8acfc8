import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import { storeOpener } from "../../src/hosting/file-store.ts";
import { verifyShards as verifyAll, type VerifyOptions, type VerifyProgress } from "../../shards/src/verify/verify.ts";
import type { StoreFile } from "../../shards/src/verify/answer-store.ts";
import { type Check, type CheckName, type Verification, verdictOf } from "../../shards/src/verify/verification.ts";
import { manifestWith, sha256 } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

const line = (subject: number, object = "x"): string => `<http://a/${subject}> <http://p> "${object}" .\n`;
const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, at) => line(from + at)).join("");

/** These shards are cut anywhere, by no rule: the checks that go by rules are left out (see placement.test.ts). */
async function verifyShards(options: VerifyOptions): Promise<Verification> {
  const { checks } = await verifyAll(options);
  return verdictOf(checks.filter(({ name }) => name !== "placement" && name !== "federated"));
}

let root = "";
let made = 0;
beforeAll(async () => {
  root = newFolder();
});

interface Given {
  readonly input: string;
  /** What the shards hold. */
  readonly shards: readonly string[];
  /** What stands in their files instead. */
  readonly damaged?: readonly (string | Buffer | undefined)[];
  readonly gzip?: boolean;
  /** The checksum that the manifest has for the input. */
  readonly inputSha256?: string;
}

async function folderOf({ input, shards, damaged, gzip = false, inputSha256 }: Given): Promise<VerifyOptions> {
  const folder = join(root, `case-${made++}`);
  await mkdir(join(folder, "shards"), { recursive: true });
  await mkdir(join(folder, "scratch"));
  const entries = shards.map((text, at) => {
    const bytes = gzip ? gzipSync(text) : Buffer.from(text);
    const id = `c.s${at}`;
    const file = `shards/${id}.nt${gzip ? ".gz" : ""}`;
    const triples = text.split("\n").length - 1;
    return {
      bytes,
      entry: { id, key: `c/${at}`, file, triples, bytes: bytes.length, sha256: sha256(bytes), lineBytes: 0 },
    };
  });
  for (const [at, { bytes, entry }] of entries.entries()) {
    await writeFile(join(folder, entry.file), damaged?.[at] ?? bytes);
  }
  await writeFile(join(folder, "input.nt"), input);
  const name = "input.nt";
  const bytes = Buffer.byteLength(input);
  const manifest = manifestWith(
    entries.map(({ entry }) => entry),
    { gzip, inputs: [{ name, format: "n-triples", bytes, sha256: inputSha256 ?? sha256(input) }] },
  );
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  return { folder, inputs: [{ path: join(folder, "input.nt") }], queries: [], scratch: join(folder, "scratch") };
}

const checkOf = ({ checks }: Verification, name: CheckName): Check | undefined =>
  checks.find((check) => check.name === name);
const outcomes = ({ checks }: Verification): Readonly<Record<string, string>> =>
  Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));

async function shouldFind(given: Given, name: CheckName, findings: Check["findings"]): Promise<Verification> {
  const found = await verifyShards(await folderOf(given));
  expect(checkOf(found, name)).toMatchObject({ outcome: "broken", findings });
  expect(found.outcome).toBe("broken");
  return found;
}

describe("shards that are right", () => {
  it("hold; triples that the input repeats count once, escapes and spaces do not matter", async () => {
    const input = `${lines(0, 2_000)}${line(5)}<http://a/2000>\t<http://p>  "\\u0078"  .\n# a comment\n`;
    const options = await folderOf({ input, shards: [lines(0, 1_500), lines(1_500, 2_001)] });
    const steps: VerifyProgress[] = [];
    const found = await verifyShards({ ...options, onProgress: (step) => steps.push(step) });
    expect(found.outcome).toBe("held");
    expect(found.checks.map(({ name, checked, findings }) => [name, checked, findings])).toStrictEqual([
      ["files", 3, []],
      ["disjoint", 2_001, []],
      ["complete", 2_001, []],
      ["answers", 0, []],
    ]);
    expect(steps.findLast(({ stage }) => stage === "read")?.done).toBe(2_002 + 2_001);
    expect(steps.findLast(({ stage }) => stage === "compare")).toMatchObject({ done: 256, total: 256 });
    expect(steps.at(-1)).toStrictEqual({ stage: "compare", step: 2, steps: 2, done: 256, total: 256 });
    expect(await readdir(options.scratch ?? "")).toStrictEqual([]);
  });

  it("hold when they are compressed", async () => {
    const options = await folderOf({ input: lines(0, 40), shards: [lines(0, 20), lines(20, 40)], gzip: true });
    expect((await verifyShards(options)).outcome).toBe("held");
  });
});

describe("triples", () => {
  const where = (subject: number): string => line(subject).trim();

  it("that are missing", () =>
    shouldFind({ input: lines(0, 9), shards: [lines(0, 8)] }, "complete", [
      { subject: where(8), reason: "in the input, but in no shard" },
    ]));

  it("that nobody put in", () =>
    shouldFind({ input: lines(0, 8), shards: [lines(0, 4), lines(4, 9)] }, "complete", [
      { subject: where(8), reason: "in a shard, but not in the input: c.s1" },
    ]));

  it("in two shards", async () => {
    const found = await shouldFind({ input: lines(0, 8), shards: [lines(0, 5), lines(4, 8)] }, "disjoint", [
      { subject: where(4), reason: "in several shards: c.s0, c.s1" },
    ]);
    expect(checkOf(found, "complete")?.outcome).toBe("held");
  });

  it("twice in one shard", () =>
    shouldFind({ input: lines(0, 8), shards: [lines(0, 8) + line(3)] }, "disjoint", [
      { subject: where(3), reason: "more than once in its shard: c.s0, c.s0" },
    ]));

  it("of which all are counted and five are shown", async () => {
    const found = await verifyShards(await folderOf({ input: lines(0, 900), shards: [lines(0, 100)] }));
    expect(checkOf(found, "complete")).toMatchObject({ outcome: "broken", wrong: 800, checked: 900 });
    expect(checkOf(found, "complete")?.findings).toHaveLength(5);
  });

  it("that are long are shown cut off", async () => {
    const found = await verifyShards(
      await folderOf({ input: line(1) + line(2, "y".repeat(5_000)), shards: [line(1)] }),
    );
    expect(checkOf(found, "complete")?.findings[0]?.subject).toHaveLength(300);
  });
});

describe("files", () => {
  it("that were changed", () =>
    shouldFind({ input: lines(0, 2), shards: [lines(0, 2)], damaged: [line(0) + line(7)] }, "files", [
      { subject: "c.s0", reason: "The checksum of the file is not the manifest's." },
    ]));

  it("that are shorter", () =>
    shouldFind({ input: lines(0, 2), shards: [lines(0, 2)], damaged: [line(0)] }, "files", [
      { subject: "c.s0", reason: "The file has 30 bytes, the manifest says 60." },
      { subject: "c.s0", reason: "The file has 1 triples, the manifest says 2." },
    ]));

  it("that cannot be read leave the rest unknown, not held", async () => {
    const broken = gzipSync(lines(0, 200)).subarray(0, 40);
    const given = { input: lines(0, 201), shards: [lines(0, 200), line(200)], gzip: true, damaged: [broken] };
    const found = await verifyShards(await folderOf(given));
    expect(outcomes(found)).toStrictEqual({
      files: "broken",
      disjoint: "unknown",
      complete: "unknown",
      answers: "unknown",
    });
    expect(checkOf(found, "files")?.findings).toStrictEqual([
      { subject: "c.s0", reason: "c.s0: the gzip is cut off." },
    ]);
  });

  it("that are gone", async () => {
    const options = await folderOf({ input: lines(0, 2), shards: [lines(0, 2)] });
    await rm(join(options.folder, "shards/c.s0.nt"));
    expect(outcomes(await verifyShards(options))).toMatchObject({ files: "broken", complete: "unknown" });
  });

  it("of an input that cannot be read leave unknown what depends on it", async () => {
    const options = await folderOf({ input: lines(0, 20), shards: [lines(0, 10), lines(9, 20)] });
    await rm(join(options.folder, "input.nt"));
    const found = await verifyShards(options);
    expect(outcomes(found)).toStrictEqual({
      files: "broken",
      disjoint: "broken",
      complete: "unknown",
      answers: "unknown",
    });
  });

  it("of inputs that nobody may read leave unknown what depends on them", async () => {
    const options = await folderOf({ input: lines(0, 20), shards: [lines(0, 10), lines(10, 20)] });
    const unread = "It lies elsewhere.";
    const queries = [{ id: "q1", text: "ASK {}" }];
    const found = await verifyShards({ ...options, inputs: { unread }, queries });
    expect(found.outcome).toBe("unknown");
    expect(found.checks).toStrictEqual([
      {
        name: "files",
        outcome: "unknown",
        checked: 2,
        wrong: 0,
        notLookedAt: 1,
        findings: [{ subject: "input.nt", reason: unread }],
      },
      { name: "disjoint", outcome: "held", checked: 20, wrong: 0, notLookedAt: 0, findings: [] },
      ...["complete", "answers"].map((name) => ({
        name,
        outcome: "unknown",
        checked: 0,
        wrong: 0,
        notLookedAt: 1,
        findings: [{ subject: "all", reason: unread }],
      })),
    ]);
  });

  it("of inputs that nobody may read do not hide what is wrong with the shards", async () => {
    const shards = [lines(0, 10), lines(9, 20)];
    const options = await folderOf({ input: lines(0, 20), shards, damaged: [undefined, lines(9, 19)] });
    const found = await verifyShards({ ...options, inputs: { unread: "It lies elsewhere." } });
    expect(outcomes(found)).toMatchObject({ files: "broken", disjoint: "broken", complete: "unknown" });
    expect(checkOf(found, "disjoint")?.findings).toStrictEqual([
      { subject: line(9).trim(), reason: "in several shards: c.s0, c.s1" },
    ]);
  });

  it("of inputs of which not all were given leave the rest unknown", async () => {
    const options = await folderOf({ input: lines(0, 20), shards: [lines(0, 20)] });
    const found = await verifyShards({ ...options, inputs: [] });
    expect(outcomes(found)).toMatchObject({ files: "unknown", disjoint: "held", complete: "unknown" });
    expect(checkOf(found, "files")?.findings).toStrictEqual([{ subject: "input.nt", reason: "It was not given." }]);
  });

  it("of an input that is another by now", () =>
    shouldFind({ input: lines(0, 2), shards: [lines(0, 2)], inputSha256: sha256("old") }, "files", [
      { subject: "input.nt", reason: "The checksum of the file is not the manifest's." },
    ]));

  it("of an input that the manifest does not know", async () => {
    const options = await folderOf({ input: lines(0, 2), shards: [lines(0, 2)] });
    const inputs = [{ path: join(options.folder, "input.nt"), name: "other.nt" }];
    expect(checkOf(await verifyShards({ ...options, inputs }), "files")?.findings).toStrictEqual([
      { subject: "other.nt", reason: "The manifest knows no such input." },
    ]);
  });
});

it("a folder without a manifest is no finished one", async () => {
  const options = await folderOf({ input: "", shards: [] });
  await rm(join(options.folder, "manifest.json"));
  await expect(verifyShards(options)).rejects.toMatchObject({ code: "SHARDS_UNKNOWN" });
});

it("ends when it is told to, and leaves nothing behind", async () => {
  const options = await folderOf({ input: lines(0, 9), shards: [lines(0, 9)] });
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(verifyShards({ ...options, signal })).rejects.toThrow("enough");
  expect(await readdir(options.scratch ?? "")).toStrictEqual([]);
});

describe("answers", () => {
  const json = (...values: readonly string[]): string =>
    JSON.stringify({ results: { bindings: values.map((value) => ({ x: { type: "literal", value } })) } });
  type Answers = readonly [whole: string | Error, union: string | Error];
  const text = "SELECT ?x WHERE { ?x ?p ?o }";

  async function answersWith([whole, union]: Answers, query = text): Promise<Check | undefined> {
    const opened: (readonly StoreFile[])[] = [];
    let closed = 0;
    const options = await folderOf({ input: lines(0, 4), shards: [lines(0, 2), lines(2, 4)] });
    const openStore: VerifyOptions["openStore"] = (files) => {
      opened.push(files);
      const answer = files.length === 1 ? whole : union;
      return Promise.resolve({
        answer: () =>
          answer instanceof Error
            ? Promise.reject(answer)
            : Promise.resolve({ mediaType: "application/sparql-results+json", body: Buffer.from(answer) }),
        close: () => Promise.resolve(void (closed += 1)),
      });
    };
    const found = await verifyShards({ ...options, queries: [{ id: "q1", text: query }], openStore });
    expect(opened.map((files) => files.length)).toStrictEqual([1, 2]);
    expect(closed).toBe(2);
    return checkOf(found, "answers");
  }

  const shouldBe = (
    name: string,
    answers: Answers,
    [outcome, reason, query]: readonly [string, string?, string?],
  ): void =>
    it(name, async () => {
      const check = await answersWith(answers, query);
      expect([check?.outcome, ...(check?.findings ?? []).map((finding) => finding.reason)]).toStrictEqual(
        reason === undefined ? [outcome] : [outcome, reason],
      );
    });

  shouldBe("the same rows in another order", [json("a", "b"), json("b", "a")], ["held"]);
  shouldBe("one row more", [json("a"), json("a", "a")], ["broken", "The union gives 2 rows, not 1."]);
  shouldBe("another row", [json("a"), json("b")], ["broken", "The union gives 1 rows, but other ones."]);
  shouldBe(
    "fewer rows of a query that takes some",
    [json("a"), json()],
    ["broken", "The union gives 0 rows, not 1.", `${text} LIMIT 1`],
  );
  shouldBe(
    "no answer",
    [json("a"), new Error("secret")],
    ["unknown", "The union gave no answer: An unexpected error occurred; the log of the service has the details."],
  );
  shouldBe(
    "no answer at all",
    ["<html>", json("a")],
    ["unknown", "The whole gave no answer: The answer is not in SPARQL results JSON."],
  );

  shouldBe(
    "fewer rows of a query that leaves their number to the store",
    [json("a", "a"), json("a")],
    [
      "unknown",
      "The rows differ, as those of a query that depends on order or chance may.",
      "SELECT REDUCED ?x { ?x ?p ?o }",
    ],
  );

  it("are unknown when their queries are not known", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    const found = await verifyShards({ ...options, queries: { unread: "There is no report." } });
    expect([found.outcome, checkOf(found, "answers")?.findings]).toStrictEqual([
      "unknown",
      [{ subject: "all", reason: "There is no report." }],
    ]);
  });

  it("that there is no time for are unknown, and every query is counted", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    let nowMs = 0;
    const asked: string[] = [];
    const steps: VerifyProgress[] = [];
    const found = await verifyShards({
      ...options,
      queries: ["q1", "q2", "q3", "q4", "q5"].map((id) => ({ id, text })),
      openStore: () =>
        Promise.resolve({
          answer: (query) => {
            asked.push(query);
            nowMs += 300;
            return Promise.resolve({ mediaType: "application/sparql-results+json", body: Buffer.from(json("a")) });
          },
          close: () => Promise.resolve(),
        }),
      answersTime: { totalMs: 1_000, now: () => nowMs },
      onProgress: (step) => steps.push(step),
    });
    expect(asked).toHaveLength(4);
    expect(checkOf(found, "answers")).toStrictEqual({
      name: "answers",
      outcome: "unknown",
      checked: 2,
      wrong: 0,
      notLookedAt: 3,
      findings: [
        { subject: "q3", reason: "It was not asked: the time for the answers was over; with it 2 more were left out." },
      ],
    });
    expect(steps.at(-1)).toStrictEqual({ stage: "answers", step: 3, steps: 3, done: 2, total: 5 });
  });

  it("are unknown when the data is too large for a store, and the other one is closed", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    let closed = 0;
    const openStore: VerifyOptions["openStore"] = ([file]) =>
      file?.path.endsWith("whole.nt") === true
        ? Promise.reject(new FedwayError("ENDPOINT_FAILED", "Out of memory."))
        : Promise.resolve({
            answer: () => Promise.reject(new Error()),
            close: () => Promise.resolve(void (closed += 1)),
          });
    const found = await verifyShards({ ...options, queries: [{ id: "q1", text }], openStore });
    expect(outcomes(found)).toMatchObject({ complete: "held", answers: "unknown" });
    expect(checkOf(found, "answers")?.findings).toStrictEqual([
      { subject: "all", reason: "No store could load the whole: Out of memory." },
    ]);
    expect(closed).toBe(1);
  });

  it("are unknown without a store", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    const found = await verifyShards({ ...options, queries: [{ id: "q1", text }] });
    expect([found.outcome, outcomes(found)["complete"]]).toStrictEqual(["unknown", "held"]);
  });

  it("stores are closed when one cannot be opened", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    let closed = 0;
    let calls = 0;
    const openStore: VerifyOptions["openStore"] = () =>
      (calls += 1) === 1
        ? Promise.resolve({
            answer: () => Promise.reject(new Error()),
            close: () => Promise.resolve(void (closed += 1)),
          })
        : Promise.reject(new Error("no room"));
    await expect(verifyShards({ ...options, queries: [{ id: "q1", text }], openStore })).rejects.toThrow("no room");
    expect(closed).toBe(1);
  });
});

describe("hosted shards", () => {
  const hosting = storeOpener({ timeoutMs: 20_000, memoryMb: 64, maxAnswerBytes: 300_000 });
  const shards = [lines(0, 2_000), lines(2_000, 2_100)];
  const odd = `<http://a/0> <http://p> "\\u0085\\u007F\\t\\"\u00e9\u{1f600}"@en-us .\n<http://a/1> <http://p> "1"^^<http://t> .\n`;
  const check = async (given: Given, open: VerifyOptions["hosting"]): Promise<Check | undefined> =>
    checkOf(await verifyShards({ ...(await folderOf(given)), hosting: open }), "hosted");

  it("have the triples of their files, however many answers that takes", async () => {
    const found = await check({ input: odd + lines(2, 2_100), shards: [odd, lines(2, 2_100)], gzip: true }, hosting);
    expect(found).toMatchObject({ outcome: "held", checked: 2_100, findings: [] });
  });

  it("that lack triples, or have others, are named with what is missing", async () => {
    const other = join(root, "other.nt");
    await writeFile(other, lines(0, 1_998) + line(1_998, "y"));
    const found = await check({ input: lines(0, 2_100), shards }, ([file, ...more], signal) => {
      if (file === undefined || more.length > 0) throw new Error("a shard is loaded alone");
      return hosting([file.path.endsWith("s0.nt") ? { ...file, path: other } : file], signal);
    });
    const missing = [1_998, 1_999].map((each) => line(each).slice(0, -3)).join("; ");
    expect(found).toMatchObject({
      outcome: "broken",
      wrong: 1,
      findings: [
        {
          subject: "c.s0",
          reason: `Its endpoint has 1,999 triples where the file has 2,000 triples; not hosted: ${missing}.`,
        },
      ],
    });
  });

  it("are unknown where no store can load them, or there is no time", async () => {
    const refusing = () => Promise.reject(new FedwayError("ENDPOINT_FAILED", "Out of memory."));
    expect(await check({ input: lines(0, 2_100), shards }, refusing)).toMatchObject({
      outcome: "unknown",
      notLookedAt: 2,
      findings: [{ subject: "c.s0", reason: "Out of memory." }, { subject: "c.s1" }],
    });
  });
});

describe("when the time for all of it is over", () => {
  const over = "The time for the verification was over.";
  const broken = { input: lines(0, 900), shards: [lines(0, 100)] };

  it("before anything was read, all is unknown, and nothing is left behind", async () => {
    const options = await folderOf({ input: lines(0, 9), shards: [lines(0, 4), lines(4, 9)] });
    const queries = [{ id: "q1", text: "ASK {}" }];
    const openStore = () => Promise.reject(new Error("is not opened"));
    const found = await verifyShards({ ...options, queries, openStore, timeUp: AbortSignal.abort() });
    const unknown = (name: CheckName, subject: string, notLookedAt: number): Check => {
      return { name, outcome: "unknown", checked: 0, wrong: 0, notLookedAt, findings: [{ subject, reason: over }] };
    };
    expect(found.checks).toStrictEqual([
      unknown("files", "the rest", 3),
      unknown("disjoint", "all", 1),
      unknown("complete", "all", 1),
      unknown("answers", "all", 1),
    ]);
    expect(found.outcome).toBe("unknown");
    expect(await readdir(options.scratch ?? "")).toStrictEqual([]);
  });

  it("while files were read, those that were are checked", async () => {
    const given = { input: line(1), shards: [line(1), line(2)], inputSha256: sha256("") };
    const { timeUp, onProgress } = overAt("read", 2);
    const found = await verifyShards({ ...(await folderOf(given)), timeUp, onProgress });
    expect(checkOf(found, "files")).toMatchObject({ outcome: "broken", checked: 2, wrong: 1, notLookedAt: 1 });
    expect(outcomes(found)).toMatchObject({ disjoint: "unknown", complete: "unknown" });
  });

  it("while triples were compared, what is wrong stays wrong", async () => {
    const { timeUp, onProgress } = overAt("compare", 9);
    const found = await verifyShards({ ...(await folderOf(broken)), timeUp, onProgress });
    expect(outcomes(found)).toStrictEqual({
      files: "held",
      disjoint: "unknown",
      complete: "broken",
      answers: "held",
    });
    expect(checkOf(found, "disjoint")).toMatchObject({ notLookedAt: 1, findings: [{ subject: "the rest" }] });
    const { checked = 0, wrong = 0 } = checkOf(found, "complete") ?? {};
    expect([checked > 0, checked < 900, wrong > 0, wrong < 800]).toStrictEqual([true, true, true, true]);
  });

  it("while a query was asked, it is ended, and neither it nor those behind it are known", async () => {
    const options = await folderOf({ input: line(1), shards: [line(1)] });
    const timeUp = new AbortController();
    const ended: boolean[] = [];
    const found = await verifyShards({
      ...options,
      queries: ["q1", "q2", "q3"].map((id) => ({ id, text: "ASK {}" })),
      openStore: async () => ({
        answer: async (_, signal) => {
          timeUp.abort();
          ended.push(signal.aborted);
          throw new FedwayError("CANCELLED", "Ended.");
        },
        close: async () => {},
      }),
      timeUp: timeUp.signal,
    });
    expect(ended).toStrictEqual([true, true]);
    expect(checkOf(found, "answers")).toMatchObject({ outcome: "unknown", checked: 0, notLookedAt: 3 });
    expect(checkOf(found, "answers")?.findings).toStrictEqual([
      { subject: "q1", reason: `The whole gave no answer: ${over}` },
      { subject: "q2", reason: "It was not asked: the time for the answers was over; with it 1 more were left out." },
    ]);
  });

  /** Time is over when a stage is so far. */
  function overAt(
    stage: VerifyProgress["stage"],
    done: number,
  ): Required<Pick<VerifyOptions, "timeUp" | "onProgress">> {
    const timeUp = new AbortController();
    const onProgress = (progress: VerifyProgress): void => {
      if (progress.stage === stage && progress.done >= done) timeUp.abort();
    };
    return { timeUp: timeUp.signal, onProgress };
  }
});
