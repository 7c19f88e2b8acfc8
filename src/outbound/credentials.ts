import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import type { Clock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { parsedJson } from "../json.ts";
import { basicOf, type Credential, type CredentialFile, formsOf, spellings } from "./credential-file.ts";
import type { JsonClient } from "./json-client.ts";
import type { ResponseHeaders } from "./media-types.ts";
import type { Refusal } from "./refusals.ts";
import type { Task } from "./task.ts";

/** What credentials are taken from, and what decides where they may go. */
interface CredentialsOptions {
  readonly file: Pick<CredentialFile, "get">;
  /** The URL that a file of the catalogue gives an endpoint; changes over the API do not count. */
  readonly fileUrl: (id: string) => string | undefined;
  /** Fetches tokens. */
  readonly post: JsonClient["post"];
  readonly clock: Clock;
  /** Called when an endpoint's credentials stay unsent since its URL has another origin. */
  readonly onWithheld: (id: string) => void;
}

/** The credentials of endpoints. */
export class Credentials {
  readonly #options: CredentialsOptions;
  readonly #tokens = new Map<string, Tokens>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  /** Signs the requests of one task to an endpoint; undefined: it has no credentials. */
  signer(id: string | undefined, url: URL | null): Signer | undefined {
    const { file, fileUrl, onWithheld } = this.#options;
    const credential = id === undefined ? undefined : file.get(id);
    if (id === undefined || credential === undefined || url === null) return undefined;
    const origin = URL.parse(credential.origin ?? fileUrl(id) ?? "")?.origin;
    if (origin !== url.origin) onWithheld(id);
    return new Signer({ id, credential, origin, token: this.#tokensOf(id, credential) });
  }

  /** Tokens outlive a file that is read again, but not their credentials. */
  #tokensOf(id: string, credential: Credential): Tokens | undefined {
    if (credential.type !== "oauth") return undefined;
    let tokens = this.#tokens.get(id);
    if (!tokens?.isOf(credential)) this.#tokens.set(id, (tokens = new Tokens(id, credential, this.#options)));
    return tokens;
  }
}

interface SignerParts {
  readonly id: string;
  readonly credential: Credential;
  /** The only origin that gets the credentials; undefined: none does. */
  readonly origin: string | undefined;
  readonly token: Tokens | undefined;
}

/** Signs the requests of one task, and takes its secrets out of the responses. */
export class Signer {
  readonly #parts: SignerParts;
  readonly #sentTokens: string[] = [];
  #state: "unsent" | "sent" | "withheld" | "redirected" = "unsent";
  #isRenewed = false;

  constructor(parts: SignerParts) {
    this.#parts = parts;
  }

  /**
   * The headers of a request, none for another origin; behind a redirect to one also none when it leads back, since that URL
   * was chosen elsewhere.
   * @throws FedwayError `ENDPOINT_REFUSED` when there is no token, and why the task was interrupted
   */
  async headers(task: Task, origin: string): Promise<readonly string[]> {
    if (origin !== this.#parts.origin) this.#state = this.#state === "unsent" ? "withheld" : "redirected";
    if (this.#state === "withheld" || this.#state === "redirected") return [];
    const { credential } = this.#parts;
    const headers =
      credential.type === "header"
        ? [credential.name, credential.value]
        : ["authorization", await this.#authorization(credential, task)];
    this.#state = "sent";
    return headers;
  }

  async #authorization(credential: Exclude<Credential, { type: "header" }>, task: Task): Promise<string> {
    if (credential.type === "basic") return `Basic ${basicOf(credential.user, credential.password)}`;
    if (credential.type === "bearer") return `Bearer ${credential.token}`;
    const token = await task.wait<string>((resolve, reject) => {
      this.#parts.token?.get().then(resolve, reject);
      return () => {};
    });
    this.#sentTokens.push(token);
    return `Bearer ${token}`;
  }

  /** Whether a refusal may be due to a token that was withdrawn, and another one will be sent; true once. */
  renews({ status }: Pick<Refusal, "status">): boolean {
    const sent = this.#sentTokens.at(-1);
    if (status !== 401 || this.#state !== "sent" || this.#isRenewed || sent === undefined) return false;
    this.#isRenewed = true;
    return this.#parts.token?.renew(sent) === true;
  }

  /** Whether credentials were sent, and what helps, for the error of a refusal; its text without secrets. */
  noted(text: string): Pick<Refusal, "text" | "credentials"> {
    const where = `"${this.#parts.id}" in the file that FEDWAY_CREDENTIALS names`;
    const next = {
      sent: `Correct the credentials of ${where}.`,
      redirected:
        "Use the URL that it redirects to: FEDWAY_CREDENTIALS are not sent behind a redirect to another origin.",
      unsent: "",
      withheld: `Set "origin" of ${where}, if the endpoint's present URL may get them.`,
    }[this.#state];
    return { text: this.#redacted(text), credentials: { sent: this.#state === "sent", next } };
  }

  headersWithoutSecrets(headers: ResponseHeaders): ResponseHeaders {
    const clean = (value: string): string => this.#redacted(value);
    const values = Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === "string" ? clean(value) : value?.map(clean),
    ]);
    return Object.fromEntries(values);
  }

  errorWithoutSecrets(error: FedwayError): FedwayError {
    const { next } = error.details;
    const [message, shownNext] = [this.#redacted(error.message), next && this.#redacted(next)];
    if (message === error.message && shownNext === next) return error;
    return new FedwayError(error.code, message, { ...error.details, next: shownNext, cause: undefined });
  }

  /** A text without these secrets, also one that an excerpt has cut. */
  #redacted(text: string): string {
    const forms = [...formsOf(this.#parts.credential), ...this.#sentTokens.flatMap(spellings)];
    const longestFirst = forms.toSorted((a, b) => b.length - a.length);
    const clean = longestFirst.reduce((all, form) => all.replaceAll(form, hidden), text);
    return clean.replaceAll(/[^…]+(?=…|$)/gu, (piece) => {
      const cut = Math.max(...forms.map((form) => cutLength(piece, form)));
      return cut > 0 ? piece.slice(0, piece.length - cut) + hidden : piece;
    });
  }
}

const hidden = "[secret]";
const fewest = 4;

/** Characters at the end of a text with which a secret begins. */
function cutLength(text: string, form: string): number {
  let length = Math.min(form.length - 1, text.length);
  while (length >= fewest && !text.endsWith(form.slice(0, length))) length -= 1;
  return length < fewest ? 0 : length;
}

const tokenMs = 10_000;
/** A new token that is refused is not replaced with every query, nor is one asked for that could not be had just now. */
const renewEveryMs = 10_000;
const retryEveryMs = 2_000;
const untoldLifetimeS = 300;

const tokenAnswer = Type.Object({
  access_token: Type.String({ pattern: "^[\\x21-\\x7e]{1,8192}$" }),
  token_type: Type.String({ pattern: "^[Bb][Ee][Aa][Rr][Ee][Rr]$" }),
  expires_in: Type.Optional(Type.Number({ minimum: 0 })),
});

type OAuth = Extract<Credential, { type: "oauth" }>;

/** Access tokens of one endpoint (RFC 6749, section 4.4): one is kept until shortly before its end, and fetched once for all. */
class Tokens {
  readonly #id: string;
  readonly #credential: OAuth;
  readonly #options: Pick<CredentialsOptions, "post" | "clock">;
  #token: Promise<string> | undefined;
  #text: string | undefined;
  #untilMs = Number.POSITIVE_INFINITY;
  #renewedMs = Number.NEGATIVE_INFINITY;

  constructor(id: string, credential: OAuth, options: Pick<CredentialsOptions, "post" | "clock">) {
    this.#id = id;
    this.#credential = credential;
    this.#options = options;
  }

  isOf(credential: OAuth): boolean {
    return JSON.stringify(credential) === JSON.stringify(this.#credential);
  }

  get(): Promise<string> {
    if (this.#token !== undefined && this.#options.clock.now() < this.#untilMs) return this.#token;
    this.#untilMs = Number.POSITIVE_INFINITY;
    this.#token = this.#fetch();
    return this.#token;
  }

  /** Gives up a token that was refused; false: that was done a moment ago. */
  renew(refused: string): boolean {
    if (this.#text !== refused) return true;
    const nowMs = this.#options.clock.now();
    if (nowMs - this.#renewedMs < renewEveryMs) return false;
    this.#renewedMs = nowMs;
    this.#text = undefined;
    this.#untilMs = nowMs;
    return true;
  }

  async #fetch(): Promise<string> {
    const { clock } = this.#options;
    const startedMs = clock.now();
    try {
      const { access_token: text, expires_in: lifetimeS = untoldLifetimeS } = await this.#ask();
      const lifetimeMs = 1_000 * Math.min(lifetimeS, 86_400);
      this.#untilMs = startedMs + lifetimeMs - Math.min(30_000, lifetimeMs / 10);
      this.#text = text;
      return text;
    } catch (thrown) {
      this.#untilMs = clock.now() + retryEveryMs;
      throw this.#failed(toFedwayError(thrown).message);
    }
  }

  async #ask(): Promise<Static<typeof tokenAnswer>> {
    const { tokenUrl, clientId, clientSecret, scope } = this.#credential;
    const body = new URLSearchParams({ grant_type: "client_credentials", ...(scope !== undefined && { scope }) });
    const { status, text = "" } = await this.#options.post({
      url: tokenUrl,
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
        authorization: `Basic ${basicOf(formEncoded(clientId), formEncoded(clientSecret))}`,
      },
      body: body.toString(),
      signal: AbortSignal.timeout(tokenMs),
      timeoutMs: tokenMs,
      maxAnswerBytes: 65_536,
    });
    const answer = parsedJson(text);
    if (status === 200 && Check(tokenAnswer, answer)) return answer;
    // What else it says may hold what was sent.
    const what = status === 200 ? "no bearer token is in its answer" : `it answered with HTTP status ${status}`;
    throw new FedwayError("ENDPOINT_REFUSED", `${what}.`);
  }

  #failed(why: string): FedwayError {
    const at = URL.parse(this.#credential.tokenUrl)?.host ?? "";
    return new FedwayError("ENDPOINT_REFUSED", `No token for "${this.#id}" came from ${at}: ${why}`, {
      fault: "http-4xx",
      where: { endpoint: this.#id },
      next: `Check tokenUrl, clientId and clientSecret of "${this.#id}" in the file that FEDWAY_CREDENTIALS names.`,
    });
  }
}

const formEncoded = (text: string): string => new URLSearchParams({ "": text }).toString().slice(1);
