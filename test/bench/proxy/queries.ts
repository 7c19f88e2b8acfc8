/** Any query will do for the upstream, which answers all of them alike; this one fits the canned answers. */
const pattern = (more = ""): string =>
  `?item <http://example.org/label> ?label ; <http://example.org/value> ?value .${more}`;

const encoded = (query: string): string => new URLSearchParams({ query }).toString();

/** `NEW` becomes a fresh number in the load generator. */
const fresh = ' FILTER(?label != "NEW"@en)';

/** True of a path whose text is new with every request. */
export const hasNew = (path: string): boolean => path.includes("NEW");

/** The query as nginx passes it on. */
export const plainPath = (id: string, isNew = false): string =>
  `/${id}/sparql?${encoded(`SELECT ?item ?label ?value WHERE { ${pattern(isNew ? fresh : "")} }`)}`;

/** The same query wrapped in a SERVICE, for Fedway's `/sparql`. */
export const servicePath = (url: string, isNew = false): string =>
  `/sparql?${encoded(`SELECT ?item ?label ?value WHERE { SERVICE <${url}> { ${pattern(isNew ? fresh : "")} } }`)}`;

/** Two adjacent SERVICEs of one endpoint. */
export const twoServicesPath = (url: string): string =>
  `/sparql?${encoded(
    `SELECT ?item ?label ?value WHERE { SERVICE <${url}> { ?item <http://example.org/label> ?label } SERVICE <${url}> { ?item <http://example.org/value> ?value } }`,
  )}`;

/** The query at the endpoint's own route. */
export const endpointPath = (id: string): string => `/endpoints${plainPath(id)}`;
