import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import { endpointsOf } from "./explain.ts";
import type { QueryRequest } from "./query-service.ts";
import { ownerDigest, type PlannedQuery, type Run, type SessionOwner, textHash } from "./run-log.ts";
import type { SessionCall } from "./session-figures.ts";
import { createWriteBehind } from "./write-behind.ts";
import { parsedJson } from "../values.ts";

interface SessionLogOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Where several processes share what they know of a session; absent: each session's calls come to this one. */
  readonly store?: Pick<Store, "put" | "list"> | undefined;
  /** Names this process in the store. */
  readonly name?: string | undefined;
  /** Most that the calls of one session may use in all; 0: no limit. */
  readonly budget?: SessionUse | undefined;
}

/** Use of a session's calls. */
export interface SessionUse {
  readonly requests: number;
  readonly rows: number;
  readonly bytes: number;
  readonly ms: number;
}

/** A tool that was called in a session; `informs`: to learn what endpoints hold, or how to write a query. */
interface ToolUse extends SessionOwner {
  readonly tool: string;
  readonly informs: boolean;
  readonly ms?: number | undefined;
  /** Requests to endpoints. */
  readonly requests?: number | undefined;
  readonly code?: string | undefined;
  /** A query that it submitted. */
  readonly query?: string | undefined;
}

/** All calls of a session that are known. */
interface KnownCalls {
  /** In order of their starts. */
  readonly calls: readonly SessionCall[];
  /** Older ones that were dropped. */
  readonly forgotten: number;
}

/** Calls that are kept of one session, and of all; each has some 500 bytes, and counts for more where it names many endpoints. */
const mostOfOne = 1_000;
const mostOfAll = 20_000;
const keptMs = 3_600_000;

interface Shared {
  readonly name: string;
  readonly store: Pick<Store, "put" | "list">;
  readonly sessions: ReadonlyMap<string, Session>;
}

interface Session {
  calls: SessionCall[];
  forgotten: number;
  /** Of its calls. */
  weight: number;
  /** By all of its calls, also those that are forgotten. */
  used?: SessionUse;
  lastMs: number;
}

function weightOf(call: SessionCall): number {
  if (call.kind === "tool") return 1 + Math.ceil((call.query?.length ?? 0) / 500);
  const names = call.named.length + call.contacted.length + call.gave.length;
  return (
    1 +
    Math.floor(names / 30) +
    Math.ceil(((call.answers?.question.length ?? 0) + (call.answers?.query.length ?? 0)) / 500)
  );
}

/**
 * The calls of the latest sessions, in bounded memory: those longest unused go first, all after an hour without a call.
 * Calls without a session cost nothing.
 */
export function createSessionLog({ now, store, name = "", budget }: SessionLogOptions) {
  // In order of their last calls.
  const sessions = new Map<string, Session>();
  const sharing = store && shareSessions({ store, name, sessions });
  let kept = 0;
  const add = (whose: SessionOwner, call: SessionCall): void => {
    const key = keyOf(whose);
    const session = sessions.get(key) ?? { calls: [], forgotten: 0, weight: 0, lastMs: 0 };
    sessions.delete(key);
    sessions.set(key, session);
    session.lastMs = now();
    session.calls.push(call);
    let change = weightOf(call);
    while (session.calls.length > 1 && session.weight + change > mostOfOne) {
      const [oldest] = session.calls.splice(0, 1);
      session.forgotten += 1;
      if (oldest) change -= weightOf(oldest);
    }
    session.used = usedBy(call, session.used);
    session.weight += change;
    kept += change;
    for (const [oldKey, old] of sessions) {
      if (kept <= mostOfAll && old.lastMs > now() - keptMs) break;
      sessions.delete(oldKey);
      kept -= old.weight;
    }
    sharing?.changed(key);
  };
  return {
    /** Lets a call of a session begin. @throws FedwayError `SESSION_SPENT` where it has used up one of its limits */
    admit(whose: SessionOwner): void {
      if (whose.session !== undefined && budget) refuseSpent(sessions.get(keyOf(whose))?.used, budget);
    },
    /** Notes a run that is over. */
    finished(run: Run): void {
      if (run.session !== undefined) add(run, callOf(run));
    },
    /** Notes a query for which no run was opened. */
    refused(request: QueryRequest, thrown: unknown): void {
      if (request.session === undefined) return;
      const code = thrown instanceof FedwayError ? thrown.code : "INTERNAL";
      const { text, endpointId, federationId } = request;
      const key = targetKey({ hash: textHash(text), endpoint: endpointId, federation: federationId });
      const nothing = { named: [], contacted: [], gave: [], requests: 0, bytes: 0, rows: 0, ms: 0 };
      add(request, { kind: "query", atMs: now(), key, status: "failed", code, repairs: 0, ...nothing });
    },
    /** Notes the use of a tool that is not a query. */
    used({ owner, session, ms = 0, ...call }: ToolUse): void {
      if (session !== undefined) add({ owner, session }, { kind: "tool", atMs: now() - ms, ms, ...call });
    },
    /** Undefined for a session that nothing is known of. @throws FedwayError `STORE_FAILED` */
    async calls(whose: SessionOwner): Promise<KnownCalls | undefined> {
      const key = keyOf(whose);
      const own = sessions.get(key);
      const parts = [...(own ? [own] : []), ...((await sharing?.others(key)) ?? [])];
      if (parts.length === 0) return undefined;
      return {
        calls: parts.flatMap(({ calls }) => calls).toSorted((a, b) => a.atMs - b.atMs),
        forgotten: parts.reduce((sum, { forgotten }) => sum + forgotten, 0),
      };
    },
    /** Writes what is not written yet. */
    close: async (): Promise<void> => sharing?.close(),
  };
}

const nothingUsed: SessionUse = { requests: 0, rows: 0, bytes: 0, ms: 0 };

function usedBy(call: SessionCall, used = nothingUsed): SessionUse {
  const { requests = 0, rows = 0, bytes, ms } = { rows: 0, bytes: 0, ...call };
  return { requests: used.requests + requests, rows: used.rows + rows, bytes: used.bytes + bytes, ms: used.ms + ms };
}

function refuseSpent(used: SessionUse | undefined, { requests, rows, bytes, ms }: SessionUse): void {
  const limits = [
    ["requests", requests] as const,
    ["rows", rows] as const,
    ["bytes", bytes] as const,
    ["ms", ms] as const,
  ];
  for (const [what, most] of limits)
    if (most > 0 && used !== undefined && used[what] >= most) throw sessionSpent(what, most);
}

const units = { requests: "requests to endpoints", rows: "rows", bytes: "bytes from endpoints", ms: "milliseconds" };

const sessionSpent = (what: keyof SessionUse, most: number): FedwayError =>
  new FedwayError("SESSION_SPENT", `The session has used its ${most} ${units[what]}.`, {
    next: `Answer with what is known, or begin another session. FEDWAY_SESSION_${what.toUpperCase()} is the limit of each.`,
  });

export type SessionLog = ReturnType<typeof createSessionLog>;

/** Copies the calls of each session to where the other processes read them: one document a process and session. */
function shareSessions({ store, name, sessions }: Shared) {
  const parts = createWriteBehind(async (key: string) => {
    const session = sessions.get(key);
    if (session) await store.put(`session/${key}/${name}`, JSON.stringify(session), { ttlMs: keptMs });
  });
  return {
    ...parts,
    /** Sessions known to the other processes. @throws FedwayError `STORE_FAILED` */
    async others(key: string): Promise<readonly Session[]> {
      const stored = await store.list(`session/${key}/`, { limit: 100 });
      return stored.flatMap((document) => (document.key.endsWith(`/${name}`) ? [] : parsePart(document.value)));
    },
  };
}

/** Owners choose the names of their sessions, so those of two owners may be the same. */
const keyOf = ({ owner, session }: SessionOwner): string =>
  textHash(`${ownerDigest(owner) ?? ""} ${session ?? ""}`).slice(0, 32);

const targetKey = ({ hash, endpoint, federation }: PlannedQuery): string =>
  `${hash.slice(0, 32)} ${endpoint ?? ""} ${federation ?? ""}`;

function callOf({ id, startedAt, durationMs = 0, plan, planned, sources, end, repairs, question }: Run): SessionCall {
  const reports = [...sources.values()];
  const { query } = planned;
  return {
    kind: "query",
    run: id,
    atMs: startedAt,
    ms: durationMs,
    key: targetKey(planned),
    status: end?.status ?? "running",
    code: end?.error?.code,
    repairs: repairs.length,
    named: plan === undefined || plan.kind === "rejected" ? [] : endpointsOf(plan).map(({ endpoint }) => endpoint),
    contacted: reports.filter(({ requests }) => requests > 0).map(({ endpoint }) => endpoint),
    // Rows that were not counted are not known to be none.
    gave: reports.filter(({ requests, rows }) => requests > 0 && rows !== 0).map(({ endpoint }) => endpoint),
    rows: end?.rows,
    requests: reports.reduce((sum, { requests }) => sum + requests, 0),
    bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
    answers: question === undefined || query === undefined ? undefined : { question, query },
  };
}

/** Parses a part; an unreadable one holds no calls. */
function parsePart(text: string): readonly Session[] {
  const part = parsedJson(text);
  return isSession(part) ? [part] : [];
}

const isSession = (value: unknown): value is Session =>
  typeof value === "object" && value !== null && "calls" in value && Array.isArray(value.calls) && "forgotten" in value;
