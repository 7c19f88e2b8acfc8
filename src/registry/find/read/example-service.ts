import type { Embedder } from "../../../embeddings/embedder.ts";
import type { Asker } from "../../../outbound/whole-answer.ts";
import { type Collection, createCollection } from "../../../store/collection.ts";
import type { Store } from "../../../store/store.ts";
import type { Catalog, CatalogEntry } from "../../catalog/catalog.ts";
import type { EndpointModels } from "../../model/endpoint-models.ts";
import {
  type Example,
  type ExampleOrigin,
  type ExampleSet,
  outcomeSchema,
  type RawExample,
  type ReadTargets,
  toExample,
} from "./example.ts";
import { askForExamples, readExampleFolder } from "./read-examples.ts";
import { type ExampleHit, ExampleIndex, type ExampleQuery } from "../tables/example-index.ts";
import { Type } from "typebox";
import { Mirror } from "../../../store/mirror.ts";

interface ExampleServiceOptions {
  readonly store: Store;
  readonly models: Pick<EndpointModels, "follow">;
  readonly exampleSets: Pick<Collection<ExampleSet>, "put" | "delete">;
  readonly catalog: Pick<Catalog, "byId" | "byUrl" | "federation">;
  readonly asker: Pick<Asker, "ask">;
  readonly clock: { now(): number };
  readonly readTargets: ReadTargets;
  readonly embedder?: Pick<Embedder, "embed"> | undefined;
  /** Folders whose files are read when somebody searches for the first time. */
  readonly folders: readonly string[];
  /** Base of relative IRIs in these files, without a trailing slash. */
  readonly baseUrl: string;
  /** Called with files that could not be used, or not as a whole. */
  readonly onProblem: (problem: ExampleProblem) => void;
  /** Pairs of question and query that are kept of runs; 0 keeps none. */
  readonly keepRuns: number;
  /** Called with why the model of `embedder` was of no use. */
  readonly onFault: (error: unknown) => void;
}

/** A file of examples that could not be used as a whole. */
interface ExampleProblem {
  readonly file: string;
  readonly reason: string;
}

/** Characters of the examples that are kept of one endpoint. */
const mostCharacters = 2_000_000;

/** Solved questions: those that endpoints publish, those of files, and those of runs. */
export class ExampleService {
  /** Undefined when nothing is kept of runs. */
  readonly experience: Experience | undefined;
  readonly #options: ExampleServiceOptions;
  readonly #index: ExampleIndex;
  /** As one source may lose what another still has. */
  readonly #bySource = new Map<string, readonly Example[]>();
  readonly #versions = new Map<string, Map<string, Example>>();
  #loading: Promise<void> | undefined;
  #ignoreModels = (): void => undefined;

  constructor(options: ExampleServiceOptions) {
    this.#options = options;
    this.#index = new ExampleIndex(options);
    const experience = createExperience({
      ...options,
      onChange: (id, example) => void this.#set(`run ${id}`, example ? [example] : []),
      exampleOf: (raw, origin) => this.#examplesOf([raw], origin)[0],
    });
    this.experience = options.keepRuns > 0 ? experience : undefined;
  }

  /** Best first; a model that does not answer in time is done without. @throws FedwayError `STORE_FAILED` */
  async find(query: ExampleQuery): Promise<readonly ExampleHit[]> {
    await this.#load();
    return this.#index.find(query);
  }

  /**
   * Reads what an endpoint publishes in its own data into the store, which the models follow; how many examples can be used.
   * @throws FedwayError as `Asker.ask`, `STORE_FAILED`
   */
  async read({ id, url, method }: CatalogEntry, signal: AbortSignal): Promise<number> {
    const { asker, exampleSets } = this.#options;
    const found = await askForExamples(asker, { id, url, method }, signal);
    let left = mostCharacters;
    // As they can be used: with the prefixes that their source declares.
    const examples = this.#examplesOf(found, { kind: "endpoint", name: id })
      .filter(({ question, query }) => (left -= question.length + query.length) >= 0)
      .map(({ question, query, targets }) => ({ question, query, targets: [...targets] }));
    await exampleSets.put(id, { endpoint: url, examples });
    return examples.length;
  }

  /** Forgets what an endpoint has published. @throws FedwayError `STORE_FAILED` */
  async remove(id: string): Promise<void> {
    await this.#options.exampleSets.delete(id);
  }

  /** Takes in what other processes have stored since, where anybody searches. @throws FedwayError `STORE_FAILED` */
  async refresh(): Promise<void> {
    if (this.#loading !== undefined) await this.experience?.refresh();
  }

  /** Files and store are read when they are first needed: most processes of the command line never do. */
  #load(): Promise<void> {
    this.#loading ??= this.#loadAll().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #loadAll(): Promise<void> {
    for (const folder of this.#options.folders) await this.#readFolder(folder);
    await this.experience?.refresh();
    this.#ignoreModels = this.#options.models.follow((id, after, before) => {
      if (after?.examples === before?.examples) return;
      const origin = { kind: "endpoint", name: id } as const;
      this.#set(`endpoint ${id}`, this.#examplesOf(after?.examples?.examples ?? [], origin));
    });
  }

  async #readFolder(folder: string): Promise<void> {
    const { baseUrl, onProblem } = this.#options;
    for (const { file, examples, problem } of await readExampleFolder(folder, baseUrl)) {
      const used = this.#set(`file ${file}`, this.#examplesOf(examples, { kind: "file", name: file })).length;
      if (problem !== undefined) onProblem({ file, reason: problem });
      if (used < examples.length) {
        onProblem({ file, reason: `${examples.length - used} of ${examples.length} examples cannot be run here` });
      }
    }
  }

  async close(): Promise<void> {
    this.#ignoreModels();
    await this.#index.close();
  }

  #examplesOf(found: readonly RawExample[], origin: ExampleOrigin): readonly Example[] {
    const { catalog, readTargets } = this.#options;
    /** Targets as the catalogue has them, where it does. */
    const targetsOf = ({ targets }: RawExample): readonly string[] =>
      targets.flatMap((target) => {
        const known = catalog.byId(target) ?? catalog.byUrl(target) ?? catalog.federation(target);
        if (known !== undefined) return "url" in known ? known.url : known.id;
        return URL.canParse(target) ? target : [];
      });
    return found.flatMap((raw) => toExample({ ...raw, targets: targetsOf(raw) }, origin, readTargets) ?? []);
  }

  #set(source: string, examples: readonly Example[]): readonly Example[] {
    const before = this.#bySource.get(source) ?? [];
    for (const { id } of before) this.#versions.get(id)?.delete(source);
    for (const example of examples) {
      const versions = this.#versions.get(example.id) ?? new Map<string, Example>();
      this.#versions.set(example.id, versions.set(source, example));
    }
    if (examples.length === 0) this.#bySource.delete(source);
    else this.#bySource.set(source, examples);
    for (const id of new Set([...before, ...examples].map((example) => example.id))) this.#settle(id);
    return examples;
  }

  /** Published ones keep their origin, and record how they ended when they were run in Fedway. */
  #settle(id: string): void {
    const versions = [...(this.#versions.get(id)?.values() ?? [])];
    const run = versions.find(({ outcome }) => outcome !== "unknown");
    const best = versions.find(({ origin }) => origin.kind !== "run") ?? versions[0];
    if (best === undefined) {
      this.#versions.delete(id);
      this.#index.remove(id);
    } else {
      this.#index.add(run === undefined ? best : { ...best, outcome: run.outcome, feedback: run.feedback });
    }
  }
}

interface ExperienceOptions {
  readonly store: Store;
  readonly clock: { now(): number };
  /** Pairs that are kept. */
  readonly keepRuns: number;
  /** Called with each pair that was added or removed. */
  readonly onChange: (id: string, example: Example | undefined) => void;
  readonly exampleOf: (raw: RawExample, origin: ExampleOrigin) => Example | undefined;
}

const schema = Type.Object({
  /** Milliseconds since the epoch. */
  at: Type.Number(),
  question: Type.String(),
  query: Type.String(),
  targets: Type.Array(Type.String()),
  outcome: outcomeSchema,
  feedback: Type.Optional(Type.String()),
});

/** Stored runs. */
type Experience = ReturnType<typeof createExperience>;

/** Pairs of question and query with how they ended, in the store; several processes may share them. */
function createExperience({ store, clock, keepRuns, onChange, exampleOf }: ExperienceOptions) {
  const pairs = new Mirror(
    createCollection({
      store,
      prefix: "experience/",
      schema,
      removesInvalid: true,
      lost: "A learned pair of question and query is gone.",
    }),
  );

  function changed(id: string): void {
    const pair = pairs.get(id);
    onChange(id, pair && exampleOf(pair, { kind: "run", name: id }));
  }

  async function dropOldest(): Promise<void> {
    const kept = [...pairs.entries()];
    if (kept.length <= keepRuns) return;
    const oldest = kept.toSorted(([, one], [, other]) => one.at - other.at).slice(0, kept.length - keepRuns);
    for (const [id] of oldest) {
      await pairs.delete(id);
      changed(id);
    }
  }

  return {
    /**
     * Keeps how a query that was meant to answer a question ended; the same pair again takes the place of the earlier one.
     * Beyond the bound the oldest go. @throws FedwayError `STORE_FAILED`
     */
    async add(pair: RawExample): Promise<void> {
      const example = exampleOf(pair, { kind: "run", name: "" });
      if (example === undefined) return;
      const { id, question, query, targets, outcome, feedback } = example;
      const document = {
        at: clock.now(),
        question,
        query,
        targets: [...targets],
        outcome,
        ...(feedback !== undefined && { feedback }),
      };
      await pairs.put(id, document);
      changed(id);
      await dropOldest();
    },
    /** Takes in what other processes keep. @throws FedwayError `STORE_FAILED` */
    async refresh(): Promise<void> {
      for (const id of await pairs.refresh()) changed(id);
      await dropOldest();
    },
  };
}
