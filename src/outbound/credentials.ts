import type { Clock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { accessTokens, type AccessTokens } from "./access-tokens.ts";
import { basicOf, type Credential, type CredentialFile, formsOf, spellings } from "./credential-file.ts";
import type { JsonClient } from "./json-client.ts";
import type { ResponseHeaders } from "./media-types.ts";
import type { Refusal } from "./refusals.ts";
import type { Task } from "./task.ts";

/** Source of credentials, and the rules for where they may go. */
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
export type Credentials = ReturnType<typeof createCredentials>;

/** Credentials that go to the origins of their endpoints. */
export function createCredentials({ file, fileUrl, onWithheld, ...options }: CredentialsOptions) {
  const known = new Map<string, AccessTokens>();
  /** Tokens outlive a file that is read again, but not their credentials. */
  const tokensOf = (id: string, credential: Credential): AccessTokens | undefined => {
    if (credential.type !== "oauth") return undefined;
    const before = known.get(id);
    const tokens = before?.isOf(credential) ? before : accessTokens(id, credential, options);
    known.set(id, tokens);
    return tokens;
  };
  return {
    /** Signs the requests of one task to an endpoint; undefined: it has no credentials. */
    signer(id: string | undefined, url: URL | null): Signer | undefined {
      const credential = id === undefined ? undefined : file.get(id);
      if (id === undefined || credential === undefined || url === null) return undefined;
      const origin = URL.parse(credential.origin ?? fileUrl(id) ?? "")?.origin;
      if (origin !== url.origin) onWithheld(id);
      return new Signer({ id, credential, origin, tokens: tokensOf(id, credential) });
    },
  };
}

interface SignerParts {
  readonly id: string;
  readonly credential: Credential;
  /** The only origin that gets the credentials; undefined: none does. */
  readonly origin: string | undefined;
  readonly tokens: AccessTokens | undefined;
}

/** Signs the requests of one task, and takes its secrets out of the responses. */
export class Signer {
  readonly #parts: SignerParts;
  readonly #sentTokens: string[] = [];
  #state: "sent" | "withheld" | "redirected" | undefined;
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
    if (origin !== this.#parts.origin) this.#state = this.#state === undefined ? "withheld" : "redirected";
    if (this.#state === "withheld" || this.#state === "redirected") return [];
    const headers = await this.#signed(task);
    this.#state = "sent";
    return headers;
  }

  async #signed(task: Task): Promise<readonly string[]> {
    const { credential, tokens } = this.#parts;
    if (credential.type === "header") return [credential.name, credential.value];
    if (credential.type === "basic") return ["authorization", `Basic ${basicOf(credential.user, credential.password)}`];
    if (credential.type === "bearer") return ["authorization", `Bearer ${credential.token}`];
    const token = await task.wait<string>((resolve, reject) => {
      tokens?.get().then(resolve, reject);
      return () => {};
    });
    this.#sentTokens.push(token);
    return ["authorization", `Bearer ${token}`];
  }

  /** True once if a refusal may be due to a withdrawn token, and another one will be sent. */
  renews({ status }: Pick<Refusal, "status">): boolean {
    const sent = this.#sentTokens.at(-1);
    if (status !== 401 || this.#state !== "sent" || this.#isRenewed || sent === undefined) return false;
    this.#isRenewed = true;
    return this.#parts.tokens?.renew(sent) === true;
  }

  /** Notes for the error of a refusal if credentials were sent, and the remedy; its text without secrets. */
  noted(text: string): Pick<Refusal, "text" | "credentials"> {
    const where = `"${this.#parts.id}" in the file that FEDWAY_CREDENTIALS names`;
    const next = {
      sent: `Correct the credentials of ${where}.`,
      redirected:
        "Use the URL that it redirects to: FEDWAY_CREDENTIALS are not sent behind a redirect to another origin.",
      withheld: `Set "origin" of ${where}, if the endpoint's present URL may get them.`,
    }[this.#state ?? "withheld"];
    return { text: this.#redacted(text), credentials: { sent: this.#state === "sent", next } };
  }

  headersWithoutSecrets(headers: ResponseHeaders): ResponseHeaders {
    const clean = (value: string): string => this.#redacted(value);
    const of = (value: ResponseHeaders[string]) => (typeof value === "string" ? clean(value) : value?.map(clean));
    return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, of(value)]));
  }

  /** Without its cause, too: that of the HTTP client may repeat the response. */
  errorWithoutSecrets({ code, message, details }: FedwayError): FedwayError {
    const next = details.next && this.#redacted(details.next);
    return new FedwayError(code, this.#redacted(message), { ...details, next, cause: undefined });
  }

  /** A text without these secrets, also one that an excerpt has cut. */
  #redacted(text: string): string {
    const forms = [...formsOf(this.#parts.credential), ...this.#sentTokens.flatMap(spellings)];
    const longestFirst = forms.toSorted((a, b) => b.length - a.length);
    const clean = longestFirst.reduce((all, form) => all.replaceAll(form, hidden), text);
    return clean.replaceAll(/[^…]+/gu, (piece) => {
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
