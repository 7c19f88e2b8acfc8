const parts = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?/s;

interface Reference {
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string;
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

function parse(text: string): Reference {
  const [, scheme, authority, path = "", query, fragment] = parts.exec(text) ?? [];
  return { scheme, authority, path, query, fragment };
}

/**
 * An IRI reference against a base (RFC 3986, section 5.2; RFC 3987), characters as they are; one with a scheme stays as it
 * is. Undefined for a relative reference without a base.
 */
export function resolveReference(reference: string, base: string | undefined): string | undefined {
  const relative = parse(reference);
  if (relative.scheme !== undefined) return reference;
  const against = base === undefined ? undefined : parse(base);
  if (against?.scheme === undefined) return undefined;
  return compose(target(relative, against));
}

function target(relative: Reference, base: Reference): Reference {
  const { scheme } = base;
  const { fragment } = relative;
  if (relative.authority !== undefined) return { ...relative, scheme, path: withoutDots(relative.path) };
  if (relative.path === "") return { ...base, query: relative.query ?? base.query, fragment };
  return { ...base, path: withoutDots(merged(relative.path, base)), query: relative.query, fragment };
}

function merged(path: string, base: Reference): string {
  if (path.startsWith("/")) return path;
  if (base.authority !== undefined && base.path === "") return `/${path}`;
  return base.path.slice(0, base.path.lastIndexOf("/") + 1) + path;
}

function withoutDots(path: string): string {
  const segments = path.split("/");
  const kept: string[] = [];
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === "..") {
      if (kept.length > 1 || (kept.length === 1 && kept[0] !== "")) kept.pop();
    } else if (segment !== ".") kept.push(segment);
    if (isLast && (segment === "." || segment === "..")) kept.push("");
  }
  return kept.join("/");
}

function compose({ scheme, authority, path, query, fragment }: Reference): string {
  const head = `${scheme}:${authority === undefined ? "" : `//${authority}`}${path}`;
  return `${head}${query === undefined ? "" : `?${query}`}${fragment === undefined ? "" : `#${fragment}`}`;
}
