import type { Clock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { accessTokens, type AccessTokens } from "./access-tokens.ts";
import { basicOf, type Credential, type CredentialFile, formsOf, spellings } from "./credential-file.ts";
import { challengesOf, Digest, type SignedRequest } from "./digest.ts";
import type { JsonClient } from "./json-client.ts";
import { headerOf, type ResponseHeaders } from "./media-types.ts";
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
  const known = new Map<string, AccessTokens | Digest>();
  /** Tokens and nonces outlive a file that is read again, but not their credentials. */
  const keptOf = (id: string, credential: Credential): AccessTokens | Digest | undefined => {
    const before = known.get(id);
    if (before?.isOf(credential)) return before;
    const kept = newlyKept(id, credential);
    if (kept) known.set(id, kept);
    return kept;
  };
  const newlyKept = (id: string, credential: Credential): AccessTokens | Digest | undefined => {
    if (credential.type === "oauth") return accessTokens(id, credential, options);
    return credential.type === "digest" ? new Digest(credential) : undefined;
  };
  return {
    /** Signs the requests of one task to an endpoint; undefined: it has no credentials. */
    signer(id: string | undefined, url: URL | null): Signer | undefined {
      const credential = id === undefined ? undefined : file.get(id);
      if (id === undefined || credential === undefined || url === null) return undefined;
      const origin = URL.parse(credential.origin ?? fileUrl(id) ?? "")?.origin;
      if (origin !== url.origin) onWithheld(id);
      return new Signer({ id, credential, origin, kept: keptOf(id, credential) });
    },
  };
}

interface SignerParts {
  readonly id: string;
  readonly credential: Credential;
  /** The only origin that gets the credentials; undefined: none does. */
  readonly origin: string | undefined;
  /** Where its signature depends on what a server gave. */
  readonly kept: AccessTokens | Digest | undefined;
}

/** Challenges that one task answers: one, or more while the server only says that its nonces have run out. */
const mostChallenges = 3;

/** Signs the requests of one task, and takes its secrets out of the responses. */
export class Signer {
  readonly #parts: SignerParts;
  readonly #sentTokens: string[] = [];
  #state: "sent" | "unsigned" | "withheld" | "redirected" | undefined;
  #renewals = 0;
  /** WWW-Authenticate of the latest response. */
  #challenge = "";

  constructor(parts: SignerParts) {
    this.#parts = parts;
  }

  /**
   * The headers of a request, none for another origin; behind a redirect to one also none when it leads back, since that URL
   * was chosen elsewhere.
   * @throws FedwayError `ENDPOINT_REFUSED` when there is no token, and why the task was interrupted
   */
  async headers(task: Task, request: SignedRequest): Promise<readonly string[]> {
    if (request.origin !== this.#parts.origin) this.#state = this.#state === undefined ? "withheld" : "redirected";
    if (this.#state === "withheld" || this.#state === "redirected") return [];
    const headers = await this.#signed(task, request);
    this.#state = headers.length > 0 ? "sent" : "unsigned";
    return headers;
  }

  async #signed(task: Task, request: SignedRequest): Promise<readonly string[]> {
    const { credential, kept } = this.#parts;
    if (credential.type === "header") return [credential.name, credential.value];
    if (credential.type === "basic") return ["authorization", `Basic ${basicOf(credential.user, credential.password)}`];
    if (credential.type === "bearer") return ["authorization", `Bearer ${credential.token}`];
    if (kept instanceof Digest) {
      const { value, response } = kept.sign(request) ?? {};
      return this.#authorization(value, response);
    }
    const token = await task.wait<string>((resolve, reject) => {
      kept?.get().then(resolve, reject);
      return () => {};
    });
    return this.#authorization(`Bearer ${token}`, token);
  }

  #authorization(value: string | undefined, secret: string | undefined): readonly string[] {
    if (value === undefined || secret === undefined) return [];
    this.#sentTokens.push(secret);
    return ["authorization", value];
  }

  /** True if a refusal may be due to a withdrawn token or an old nonce, and the next request will have another one. */
  renews({ status }: Refusal): boolean {
    const { kept } = this.#parts;
    const isAsked = status === 401 && (this.#state === "sent" || this.#state === "unsigned");
    if (!isAsked || kept === undefined || this.#renewals === mostChallenges) return false;
    this.#renewals += 1;
    const isFirst = this.#renewals === 1;
    if (kept instanceof Digest) return kept.renew(this.#challenge, isFirst);
    const sent = this.#sentTokens.at(-1);
    return isFirst && sent !== undefined && kept.renew(sent);
  }

  /** Notes for the error of a refusal if credentials were sent, and the remedy; its text without secrets. */
  noted(text: string) {
    const where = `"${this.#parts.id}" in the file that FEDWAY_CREDENTIALS names`;
    const next = {
      sent: this.#otherScheme(where) ?? `Correct the credentials of ${where}.`,
      unsigned: this.#otherScheme(where) ?? `Correct "type" of ${where}.`,
      redirected:
        "Use the URL that it redirects to: FEDWAY_CREDENTIALS are not sent behind a redirect to another origin.",
      withheld: `Set "origin" of ${where}, if the endpoint's present URL may get them.`,
    }[this.#state ?? "withheld"];
    return { text: this.#redacted(text), credentials: { sent: this.#state === "sent", next } };
  }

  /** Where the endpoint asks for another kind of credentials than it is given. */
  #otherScheme(where: string): string | undefined {
    const asked = new Set(challengesOf(this.#challenge).map(([scheme]) => scheme));
    const { type } = this.#parts.credential;
    const known = ["digest", "basic", "bearer"].find((scheme) => asked.has(scheme));
    if (known === "digest" && type === "digest" && this.#state === "unsigned")
      return "The endpoint asks for a form of HTTP Digest that Fedway does not know: let it offer MD5 or SHA-256 with qop=auth.";
    const isRight = known === undefined || asked.has(type) || (known === "bearer" && type === "oauth");
    return isRight || type === "header" ? undefined : `The endpoint asks for ${known}: set "type" of ${where} to it.`;
  }

  /** Takes in the headers of a response; gives them without secrets. */
  headersWithoutSecrets(headers: ResponseHeaders): ResponseHeaders {
    this.#challenge = headerOf(headers, "www-authenticate") ?? "";
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
