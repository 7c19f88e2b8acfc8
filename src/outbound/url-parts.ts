/** The parts of an endpoint's URL that each request to it needs. */
export interface UrlParts {
  readonly origin: string;
  /** Path and query string. */
  readonly target: string;
  /** Origin and path. */
  readonly place: string;
}

// The URL class puts them together anew each time they are read.
const known = new WeakMap<URL, UrlParts>();

/** The parts of a URL that nobody changes. */
export function partsOf(url: URL): UrlParts {
  let parts = known.get(url);
  if (parts === undefined) {
    const { origin, pathname, search } = url;
    parts = { origin, target: pathname + search, place: origin + pathname };
    known.set(url, parts);
  }
  return parts;
}
