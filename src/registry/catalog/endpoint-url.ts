const absolute = /^([a-z][a-z0-9+.-]{0,30}):\/\/([^/?#\\]*)([^\\]*)$/i;

/** An http(s) IRI split where comparison rules differ: the origin is normalised, the rest is compared as written. */
export interface SplitUrl {
  /** Scheme, host and non-default port as WHATWG URL writes them. */
  readonly origin: string;
  /** Path, query and fragment, verbatim; "/" when the IRI has none. */
  readonly rest: string;
}

/** Splits an absolute http(s) IRI; undefined for anything else and for IRIs with userinfo. */
export function splitUrl(iri: string): SplitUrl | undefined {
  const parts = absolute.exec(iri);
  const [, scheme, authority, rest] = parts ?? [];
  if (scheme === undefined || authority === undefined || authority.includes("@")) return undefined;
  const origin = originOf(`${scheme}://${authority}`);
  return origin === undefined ? undefined : { origin, rest: rest === undefined || rest === "" ? "/" : rest };
}

/**
 * All origins that mean this service: the given ones and, for a loopback host, the other names of loopback
 * (`localhost`, `127.0.0.1`, `[::1]`) at the same port.
 */
export function ownOrigins(urls: readonly string[]): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const url of urls) {
    const origin = originOf(url);
    if (origin === undefined) continue;
    for (const same of loopbackVariants(origin)) origins.add(same);
  }
  return origins;
}

const loopbackHosts = ["localhost", "127.0.0.1", "[::1]"];

function loopbackVariants(origin: string): readonly string[] {
  const { hostname, protocol, port } = new URL(origin);
  if (!loopbackHosts.includes(hostname)) return [origin];
  return loopbackHosts.map((host) => `${protocol}//${host}${port === "" ? "" : `:${port}`}`);
}

function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { origin, protocol } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? origin : undefined;
}
