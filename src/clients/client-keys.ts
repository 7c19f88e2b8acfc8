import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type Static, Type } from "typebox";
import type { Clock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { createCollection } from "../store/collection.ts";
import { Mirror } from "../store/mirror.ts";
import type { Store } from "../store/store.ts";

/** Roles of clients; each includes those before it. */
export const roles = ["read", "query", "write", "admin"] as const;
export type Role = (typeof roles)[number];

/** True if a role, or none, is enough for an action that needs another. */
export const mayDo = (role: Role | undefined, needed: Role): boolean =>
  role !== undefined && roles.indexOf(role) >= roles.indexOf(needed);

const amount = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 1e12, description }));
const Limits = Type.Object(
  {
    requests: amount("Requests sent to endpoints."),
    rows: amount("Rows or triples of answers, where their number is known."),
    seconds: amount("Seconds that calls were under way."),
  },
  { additionalProperties: false },
);

/** Limits of one client's calls in an hour and a day (UTC); an absent one is no limit. */
export const Quota = Type.Object(
  { hour: Type.Optional(Limits), day: Type.Optional(Limits) },
  { additionalProperties: false, description: "Limits by window." },
);
export type Quota = Static<typeof Quota>;

/** Name of a client: part of its keys, of log lines and metrics. */
export const namePattern = "^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$";

const Key = Type.Object({
  hash: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  madeMs: Type.Number(),
  untilMs: Type.Optional(Type.Number()),
});
const Client = Type.Object({
  role: Type.Enum([...roles]),
  quota: Type.Optional(Quota),
  /** Newest first. */
  keys: Type.Array(Key),
});

/** A client with the keys that open for it. */
export type Client = Static<typeof Client>;
type Key = Static<typeof Key>;

/** A key as it is shown, once. */
interface NewKey {
  readonly key: string;
  readonly client: Client;
}

const mostEnded = 100;

/** Sessions of an owner that have been signed out, each known by its end; all that end no later than `beforeMs` are, too. */
const SignedOut = Type.Object({ untilMs: Type.Array(Type.Number()), beforeMs: Type.Number() });
type SignedOut = Static<typeof SignedOut>;

const wholeKey = /^fw_([a-z0-9-]{1,40})_[\w-]{43}$/;

/** Longest life of a session of `/login`, milliseconds. */
export const longestSessionMs = 7 * 24 * 3_600_000;

/** A session of `/login`: of a client, or of the admin where there is no name. */
export interface Session {
  readonly name: string | undefined;
  /** When it ends, milliseconds since the epoch. */
  readonly untilMs: number;
}

const mostClients = 1_000;
const liveKeys = 2;

/** Keys are 32 random bytes, so their plain SHA-256 cannot be searched: a slow hash would only make requests slow. */
const hashOf = (key: string): Buffer => createHash("sha256").update(key).digest();

/** The clients of this deployment. */
export type ClientKeys = Awaited<ReturnType<typeof openClientKeys>>;

interface ClientKeysOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
}

const clientsIn = (store: Store) =>
  createCollection({
    store,
    prefix: "client/",
    schema: Client,
    lost: "The client and its keys are refused until it is added again (fedway keys add).",
  });
const signedOutIn = (store: Store) =>
  createCollection({
    store,
    prefix: "signed-out/",
    schema: SignedOut,
    lost: "Sessions that were signed out count again until they end.",
  });

/**
 * Named clients and their hashed keys, in the store; checked in memory, which follows the changes of all processes.
 * @throws FedwayError `STORE_FAILED`
 */
export async function openClientKeys({ store, clock, onFault }: ClientKeysOptions) {
  const mirror = new Mirror(clientsIn(store));
  await mirror.refresh();
  const signedOut = new Mirror(signedOutIn(store));
  await signedOut.refresh();
  const followed = [mirror, signedOut].map((each) => each.follow({ clock, onFault }));
  const isLive = ({ untilMs = Number.POSITIVE_INFINITY }: Key): boolean => untilMs > clock.now();
  const live = (name: string): readonly Key[] => (mirror.get(name)?.keys ?? []).filter(isLive);
  const changed = async (name: string, change: (client: Client) => Client): Promise<Client> => {
    const { after } = await mirror.change(name, (client) => client && change(client));
    if (after === undefined) throw unknown(name);
    return after;
  };
  return {
    ...endingSessions(signedOut),
    wrongKeys: createWrongKeys(clock.now),
    /** True once there is a client: from then on unknown credentials are refused instead of ignored. */
    get inUse(): boolean {
      return mirror.entries().next().done !== true;
    },
    get: (name: string): Client | undefined => mirror.get(name),
    all: (): readonly (readonly [string, Client])[] => [...mirror.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    /** Name of the client that a key opens for; undefined for one that is wrong, ended or revoked. */
    nameOf(given: string): string | undefined {
      const name = wholeKey.exec(given)?.[1];
      if (name === undefined) return undefined;
      const hash = hashOf(given);
      return live(name).some((key) => timingSafeEqual(hash, Buffer.from(key.hash, "hex"))) ? name : undefined;
    },
    /** Secrets that sessions of a client are signed with, one for each live key, so that they end with it; of one key only its own. */
    sessionSecrets: (name: string, key?: string): readonly string[] =>
      live(name).flatMap(({ hash }) => (key === undefined || hashOf(key).toString("hex") === hash ? [hash] : [])),
    /** @throws FedwayError `CLIENT_EXISTS`, `REQUEST_INVALID` beyond 1,000 clients */
    async add(name: string, rights: Pick<Client, "role" | "quota">, untilMs?: number): Promise<NewKey> {
      if (reserved.has(name)) throw exists(name);
      if (this.all().length >= mostClients) throw tooMany();
      const { key, stored } = makeKey(name, clock.now(), untilMs);
      const client = { ...rights, keys: [stored] };
      const { after } = await mirror.change(name, (before) => (before === undefined ? client : undefined));
      if (after !== client) throw exists(name);
      return { key, client };
    },
    /** A new key beside the newest one, which ends after `graceMs`; older ones end now. @throws FedwayError `CLIENT_UNKNOWN` */
    async rotate(name: string, graceMs: number, untilMs?: number): Promise<NewKey> {
      const { key, stored } = makeKey(name, clock.now(), untilMs);
      const old = clock.now() + graceMs;
      const ending = (each: Key): Key => ({ ...each, untilMs: Math.min(each.untilMs ?? old, old) });
      const client = await changed(name, (before) => ({
        ...before,
        keys: [
          stored,
          ...before.keys
            .filter(isLive)
            .slice(0, graceMs > 0 ? liveKeys - 1 : 0)
            .map(ending),
        ],
      }));
      return { key, client };
    },
    /** Revokes all keys of a client. @throws FedwayError `CLIENT_UNKNOWN` */
    async remove(name: string): Promise<void> {
      if (!(await mirror.delete(name))) throw unknown(name);
    },
    close: async () => void (await Promise.all(followed.map((each) => each.stop()))),
  };
}

/** Wrong keys in a row that an address may send before it waits. */
const freeWrongKeys = 10;
const longestWaitMs = 60_000;
const forgottenMs = 600_000;
const mostAddresses = 10_000;

interface WrongKeys {
  readonly count: number;
  readonly untilMs: number;
  /** Hash of the latest one. */
  readonly latest: string;
}

/**
 * Slows down who guesses keys: beyond ten wrong ones in a row an address waits, twice as long after each, up to a minute. The
 * same one again is no guess, but a program whose key has ended: it is refused as before and adds nothing to the wait.
 */
function createWrongKeys(now: () => number) {
  const byAddress = new Map<string, WrongKeys>();
  return {
    /** Milliseconds until a key of this address is looked at; 0: now. */
    waitMs(address: string, key: string): number {
      const { untilMs = 0, latest } = byAddress.get(address) ?? {};
      return untilMs <= now() || hashOf(key).toString("base64") === latest ? 0 : untilMs - now();
    },
    wrong(address: string, key: string): void {
      const known = byAddress.get(address);
      const latest = hashOf(key).toString("base64");
      if (known?.latest === latest) return;
      const count = known === undefined || known.untilMs + forgottenMs < now() ? 1 : known.count + 1;
      const waitMs = count < freeWrongKeys ? 0 : Math.min(longestWaitMs, 1_000 * 2 ** (count - freeWrongKeys));
      byAddress.delete(address);
      const [oldest] = byAddress.keys();
      if (byAddress.size >= mostAddresses && oldest !== undefined) byAddress.delete(oldest);
      byAddress.set(address, { count, untilMs: now() + waitMs, latest });
    },
    right: (address: string): boolean => byAddress.delete(address),
  };
}

function endingSessions(signedOut: Mirror<SignedOut>) {
  return {
    /** Ends a session in all processes. @throws FedwayError `STORE_FAILED` */
    async signOut({ name, untilMs }: Session): Promise<void> {
      const change = (known: SignedOut = { untilMs: [], beforeMs: 0 }): SignedOut => {
        const ended = [...new Set([untilMs, ...known.untilMs])].toSorted((a, b) => b - a);
        // What has no room ends all that end before it: a session that was signed out never holds again.
        return { untilMs: ended.slice(0, mostEnded), beforeMs: Math.max(known.beforeMs, ended[mostEnded] ?? 0) };
      };
      await signedOut.change(name ?? "admin", change, { ttlMs: () => longestSessionMs });
    },
    isSignedOut({ name, untilMs }: Session): boolean {
      const known = signedOut.get(name ?? "admin");
      return known !== undefined && (untilMs <= known.beforeMs || known.untilMs.includes(untilMs));
    },
  };
}

/** Names in logs and metrics of callers that are no clients. */
const reserved: ReadonlySet<string> = new Set(["admin", "anonymous", "other", "self"]);

function makeKey(name: string, madeMs: number, untilMs: number | undefined) {
  const key = `fw_${name}_${randomBytes(32).toString("base64url")}`;
  const stored: Key = { hash: hashOf(key).toString("hex"), madeMs, ...(untilMs !== undefined && { untilMs }) };
  return { key, stored };
}

const unknown = (name: string): FedwayError =>
  new FedwayError("CLIENT_UNKNOWN", `There is no client ${name}.`, { next: "fedway keys list" });

const exists = (name: string): FedwayError =>
  new FedwayError("CLIENT_EXISTS", `The name ${name} is taken or reserved.`, {
    next: `For another key of that client: fedway keys rotate ${name}`,
  });

const tooMany = (): FedwayError =>
  new FedwayError("REQUEST_INVALID", `There are ${mostClients} clients already, the most that are kept.`, {
    next: "fedway keys remove NAME",
  });
