import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { FedwayError } from "../../errors/fedway-error.ts";
import { entriesNamed } from "../../plan/meant-entries.ts";
import { type Catalog, describeAdvice } from "../../registry/catalog.ts";
import type { EndpointModels } from "../../registry/model.ts";
import { sourcesOf } from "../grammar/places.ts";
import { refused, replay, type Step } from "./draft.ts";
import { type ContainerCall, createJudge, type JudgeParts } from "./judge.ts";
import { type NumberedList, numbered, optionsOf } from "./options.ts";
import { type AskedStep, readStep } from "./read-step.ts";
import { type Schema, schemaOf } from "./schema.ts";
import { textOf, writeDraft } from "./write-query.ts";

interface ContainerParts extends JudgeParts {
  readonly catalog: Catalog;
  readonly models: EndpointModels;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A query under construction after a call. */
export interface ContainerAnswer {
  readonly handle: string;
  /** Empty before the first class. */
  readonly query: string;
  /** Rows of the query; null: unknown. */
  readonly rows: number | null;
  readonly notes: readonly string[];
  /** Lists of next choices. */
  readonly lists: readonly NumberedList[];
  /** A pattern that `end` has to close. */
  readonly open?: string | undefined;
}

/** Queries that are put together from numbered choices. */
export type QueryContainer = ReturnType<typeof createQueryContainer>;

const mostEndpoints = 20;
const mostSteps = 60;
const keptSchemas = 8;
/** Of all owners; the one that was changed longest ago goes first. */
const keptDraftBytes = 4 * 1024 * 1024;
const keptDraftsOfOwner = 20;
/** Time without a change after which a draft is dropped. */
const keptMs = 30 * 60_000;

/** A container over the stored descriptions; drafts live in this process, with an owner and for a time. */
export function createQueryContainer(parts: ContainerParts) {
  const drafts = createDrafts(parts.now);
  const schemaFor = createSchemas(parts);
  const judge = createJudge(parts);
  const current = (handle: string, { owner, holder = owner }: ContainerCall) => {
    const draft = drafts.get(handle, holder);
    return { draft, schema: schemaFor(draft.endpoints), building: replay(draft.steps) };
  };
  /** Counts a draft that has lost a step, or is looked at again, and keeps it. */
  const counted = async (changed: KeptDraft, schema: Schema, call: ContainerCall): Promise<ContainerAnswer> => {
    const rows = await judge.count(replay(changed.steps).draft, { schema, call });
    const draft = { ...changed, rows };
    drafts.put(draft);
    return answerOf(draft, schema, { wanted: ["class", "property", "path", "filter"] });
  };
  return {
    /** Begins a query over endpoints, or the members of a federation. @throws FedwayError `ENDPOINT_UNKNOWN`, `DESCRIPTION_UNKNOWN`, `STEP_REFUSED` */
    async open(ids: readonly string[], { owner, holder = owner }: ContainerCall): Promise<ContainerAnswer> {
      const endpoints = endpointsOf(ids, parts);
      const draft = { handle: randomUUID(), owner: holder, endpoints, steps: [], rows: null };
      const schema = schemaFor(endpoints);
      drafts.put(draft);
      const notes = schema.sources.flatMap(({ id, published }) =>
        published === undefined ? [] : `${id} has not been described: its terms were ${published}; there may be more.`,
      );
      return answerOf(draft, schema, { wanted: ["class"], notes });
    },
    /**
     * Makes a step, or lists the choices of it when none is given. One that would make the query invalid or empty is not made.
     * @throws FedwayError `DRAFT_UNKNOWN`, `STEP_REFUSED`
     */
    async step(handle: string, asked: AskedStep, call: ContainerCall): Promise<ContainerAnswer> {
      const { draft, schema, building } = current(handle, call);
      const list = listOf[asked.step];
      const needsValue = asked.step === "filter" || asked.step === "or";
      if (asked.choice === undefined && list !== undefined && !(needsValue && asked.value !== undefined)) {
        return answerOf(draft, schema, { wanted: [list], words: asked.value ?? "" });
      }
      if (needsValue && (asked.value ?? "").trim() === "") {
        return answerOf(draft, schema, { wanted: [], notes: await judge.values(asked, building, { schema, call }) });
      }
      if (draft.steps.length >= mostSteps) {
        throw refused(`A query has at most ${mostSteps} steps.`, "Undo some, or run it.");
      }
      const step = readStep(asked, optionsOf(building, schema), building);
      const steps = [...draft.steps, step];
      const { rows, notes } = await judge.step(step, replay(steps), { schema, call });
      const next = { ...draft, steps, rows };
      drafts.put(next);
      return answerOf(next, schema, { wanted: following(step), notes });
    },
    /** Takes back the last step. @throws FedwayError `DRAFT_UNKNOWN`, `STEP_REFUSED` when there is none */
    async undo(handle: string, call: ContainerCall): Promise<ContainerAnswer> {
      const { draft, schema } = current(handle, call);
      if (draft.steps.length === 0) throw refused("There is no step to take back.", "Choose a class.");
      return counted({ ...draft, steps: draft.steps.slice(0, -1) }, schema, call);
    },
    /** Shows the query and counts its rows again, without a step. @throws FedwayError `DRAFT_UNKNOWN` */
    async look(handle: string, call: ContainerCall): Promise<ContainerAnswer> {
      const { draft, schema } = current(handle, call);
      return counted(draft, schema, call);
    },
  };
}

/** A query under construction; as JSON it is a few kilobytes. */
interface KeptDraft {
  readonly handle: string;
  readonly owner: string;
  /** Ids of the endpoints. */
  readonly endpoints: readonly string[];
  readonly steps: readonly Step[];
  /** Of its query, as they were counted; null: unknown. */
  readonly rows: number | null;
}

interface Shown {
  readonly wanted: readonly NumberedList["step"][];
  readonly notes?: readonly string[];
  /** Only items of the lists with these words. */
  readonly words?: string;
}

function answerOf(draft: KeptDraft, schema: Schema, { wanted, notes = [], words = "" }: Shown): ContainerAnswer {
  const building = replay(draft.steps);
  const options = optionsOf(building, schema);
  const { opened } = building;
  return {
    handle: draft.handle,
    query: building.draft.triples.length === 0 ? "" : textOf(writeDraft(building.draft, schema, true)),
    rows: draft.rows,
    notes,
    lists: wanted.map((step) => numbered(step, options, { schema, words })),
    open: opened && `${opened.step} ?${opened.column}`,
  };
}

/** The list from which a step takes its number. */
const listOf: Partial<Readonly<Record<AskedStep["step"], NumberedList["step"]>>> = {
  class: "class",
  property: "property",
  path: "path",
  filter: "filter",
  or: "filter",
  show: "filter",
  group: "filter",
  except: "filter",
};

const following = ({ step }: Step): readonly NumberedList["step"][] => {
  if (step === "class" || step === "path") return ["property", "path"];
  return step === "except" || step === "compare" ? ["class"] : ["filter"];
};

function endpointsOf(ids: readonly string[], { catalog }: ContainerParts): readonly string[] {
  const endpoints = entriesNamed(ids, catalog).map(({ id }) => id);
  if (endpoints.length === 0)
    throw refused("No endpoint is named.", "Give ids of endpoints or of a federation as value.");
  return endpoints.slice(0, mostEndpoints);
}

/** Drafts by handle, for their owners. */
function createDrafts(now: () => number) {
  const drafts = new LRUCache<string, KeptDraft>({
    maxSize: keptDraftBytes,
    sizeCalculation: (draft) => 2 * JSON.stringify(draft).length + 250,
    ttl: keptMs,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    /** Keeps a draft, and gives it its time again. */
    put(draft: KeptDraft): void {
      drafts.delete(draft.handle);
      const own = [...drafts.rvalues()].flatMap((other) => (other?.owner === draft.owner ? other.handle : []));
      if (own[0] !== undefined && own.length >= keptDraftsOfOwner) drafts.delete(own[0]);
      drafts.set(draft.handle, draft);
    },
    /** @throws FedwayError `DRAFT_UNKNOWN` for one that never was, has expired or is somebody else's: all alike */
    get(handle: string, owner: string): KeptDraft {
      const draft = drafts.peek(handle);
      if (draft?.owner === owner) return draft;
      throw new FedwayError(
        "DRAFT_UNKNOWN",
        "There is no query under construction with this handle; unused ones are dropped after half an hour.",
        { next: "Open one: step open with the ids of endpoints." },
      );
    },
  };
}

/** Schemas of the last few sets of endpoints; those of which nothing is known are left out. */
function createSchemas({ models, catalog }: ContainerParts) {
  const kept = new LRUCache<string, { readonly version: string; readonly schema: Schema }>({ max: keptSchemas });
  return (ids: readonly string[]): Schema => {
    const sources = sourcesOf(ids, models);
    if (sources.length === 0) {
      throw new FedwayError("DESCRIPTION_UNKNOWN", "None of these endpoints has been described yet.", {
        next: describeAdvice(catalog.byId(ids[0] ?? "")),
      });
    }
    const key = ids.join(" ");
    const version = sources.map(({ id, published }) => `${id} ${published ?? models.get(id)?.version ?? ""}`).join(" ");
    const known = kept.peek(key);
    if (known?.version === version) return known.schema;
    const schema = schemaOf(sources);
    kept.set(key, { version, schema });
    return schema;
  };
}
