import { createHash, randomBytes } from "node:crypto";

interface Account {
  readonly user: string;
  readonly password: string;
}

/** One HTTP request as a signature covers it. */
export interface SignedRequest {
  readonly method: string;
  readonly origin: string;
  /** Path and query string, as they are sent. */
  readonly path: string;
}

/** The value of an Authorization header, and its part that only the password gives. */
interface Signature {
  readonly value: string;
  readonly response: string;
}

const hashes: Readonly<Record<string, string>> = { md5: "md5", "sha-256": "sha256", "sha-512-256": "sha512-256" };

/** The longest WWW-Authenticate that is read, in characters. */
const longestField = 8_192;

/** A Digest challenge of a server that can be answered, and the count of its nonce. */
class Challenge {
  readonly #parameters: Parameters;
  readonly #hash: string;
  readonly #isSession: boolean;
  #count = 0;

  private constructor(parameters: Parameters, hash: string) {
    this.#parameters = parameters;
    this.#hash = hash;
    this.#isSession = this.#algorithm.toLowerCase().endsWith("-sess");
  }

  /** The challenge of these parameters; undefined if it wants an algorithm or a protection that is unknown. */
  static of(parameters: Parameters): Challenge | undefined {
    const algorithm = (parameters.get("algorithm") ?? "MD5").toLowerCase().replace(/-sess$/u, "");
    const hash = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
    const offered = (parameters.get("qop") ?? "").toLowerCase().split(/[\s,]+/u);
    const isWhole = parameters.has("realm") && parameters.has("nonce");
    return hash !== undefined && isWhole && offered.includes("auth") ? new Challenge(parameters, hash) : undefined;
  }

  /** The server says that account and realm were right, but its nonce has run out. */
  get isStale(): boolean {
    return this.#get("stale").toLowerCase() === "true";
  }

  get #algorithm(): string {
    return this.#parameters.get("algorithm") ?? "MD5";
  }

  #get(name: string): string {
    return this.#parameters.get(name) ?? "";
  }

  #hashed(...parts: readonly string[]): string {
    return createHash(this.#hash).update(parts.join(":"), "latin1").digest("hex");
  }

  answer({ user, password }: Account, { method, path }: SignedRequest): Signature {
    const [realm, nonce] = [this.#get("realm"), this.#get("nonce")];
    this.#count += 1;
    const count = this.#count.toString(16).padStart(8, "0");
    const own = randomBytes(16).toString("hex");
    const secret = this.#hashed(inBytes(user), realm, inBytes(password));
    const key = this.#isSession ? this.#hashed(secret, nonce, own) : secret;
    const response = this.#hashed(key, nonce, count, own, "auth", this.#hashed(method, path));
    const hidesUser = this.#get("userhash").toLowerCase() === "true";
    const fields = [
      hidesUser ? `username=${quoted(this.#hashed(inBytes(user), realm))}` : named(user),
      `realm=${quoted(realm)}`,
      `nonce=${quoted(nonce)}`,
      `uri=${quoted(path)}`,
      `response="${response}"`,
      ...(this.#parameters.has("algorithm") ? [`algorithm=${this.#algorithm}`] : []),
      ...(this.#parameters.has("opaque") ? [`opaque=${quoted(this.#get("opaque"))}`] : []),
      "qop=auth",
      `nc=${count}`,
      `cnonce="${own}"`,
      ...(hidesUser ? ["userhash=true"] : []),
    ];
    return { value: `Digest ${fields.join(", ")}`, response };
  }
}

/** UTF-8 with a character for each byte, as the headers of the HTTP client are. */
const inBytes = (text: string): string => Buffer.from(text).toString("latin1");

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/gu, String.raw`\$&`)}"`;

/** A name beyond ASCII goes into the extended parameter (RFC 7616, section 3.4; RFC 8187). */
const named = (user: string): string =>
  /^[\x20-\x7e]*$/u.test(user)
    ? `username=${quoted(user)}`
    : `username*=UTF-8''${encodeURIComponent(user.toWellFormed()).replaceAll(/['()*]/gu, escaped)}`;

const escaped = (sign: string): string => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;

type Parameters = ReadonlyMap<string, string>;

/** The challenges of a WWW-Authenticate field (RFC 9110, section 11.6.1): schemes in lower case, with their parameters. */
export function challengesOf(field: string): readonly (readonly [scheme: string, Parameters])[] {
  const found: [string, Map<string, string>][] = [];
  const words = field.slice(0, longestField).match(/"(?:[^"\\]|\\.)*(?:"|$)|[^\s,="]+|[=,]/gsu) ?? [];
  for (const [at, word] of words.entries()) {
    const [before, sign, value = ","] = [words[at - 1] ?? ",", words[at + 1], words[at + 2]];
    if (/^[=,"]/u.test(word) || before === "=") continue;
    if (sign !== "=" && before === ",") found.push([word.toLowerCase(), new Map()]);
    if (sign === "=" && !/^[=,]/u.test(value)) found.at(-1)?.[1].set(word.toLowerCase(), unquoted(value));
  }
  return found;
}

const unquoted = (text: string): string =>
  text.startsWith('"') ? text.replaceAll(/^"|"$/gu, "").replaceAll(/\\(.)/gsu, "$1") : text;

/**
 * HTTP Digest of one account (RFC 7616, qop auth). The latest nonce of its server is kept, and counted over all requests of
 * this process, so that only the first one is sent twice.
 */
export class Digest {
  readonly #account: Account;
  #challenge: Challenge | undefined;

  constructor(account: Account) {
    this.#account = account;
  }

  isOf(other: object): boolean {
    return Object.entries(this.#account).every(([name, value]) => Reflect.get(other, name) === value);
  }

  /** Counts a request and signs it; undefined before the server has sent a challenge. */
  sign(request: SignedRequest): Signature | undefined {
    return this.#challenge?.answer(this.#account, request);
  }

  /**
   * Takes in the WWW-Authenticate of a refused request.
   * @param mayBeOld the request had no signature, or one with a nonce that an earlier task was given
   * @returns true if the request may be sent again with the new nonce
   */
  renew(field: string, mayBeOld: boolean): boolean {
    const digests = challengesOf(field).filter(([scheme]) => scheme === "digest");
    const challenge = digests.flatMap(([, parameters]) => Challenge.of(parameters) ?? [])[0];
    const again = challenge !== undefined && (mayBeOld || challenge.isStale);
    // A wrong password is sent once a task, not with the next one's first request, too: servers lock accounts.
    this.#challenge = again ? challenge : undefined;
    return again;
  }
}
