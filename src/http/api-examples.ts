/** Examples of the OpenAPI document: one for each required parameter and each body, by the paths and names of operations. */

type Node = Record<string, unknown>;

const query = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT ?name { ?person foaf:name ?name } LIMIT 3";
const endpoint = { title: "My endpoint", url: "https://sparql.example.org/sparql" };
const federation = { title: "My federation", members: ["people", "places"] };
const watch = { name: "Names", query, endpoint: "people", everyMinutes: 60 };
const target = { query, endpoint: "people" };

const bodies: Readonly<Record<string, unknown>> = {
  queryTable: target,
  explain: target,
  complete: { query: "SELECT * { ?person foaf:na", position: 26, endpoint: "people" },
  ask: { question: "What are the names of the people?", endpoints: ["people"] },
  callFindEndpoints: { question: "names of people" },
  callDescribeEndpoint: { endpoint: "people" },
  callSearchTerms: { query: "name" },
  callCheckQuery: target,
  callFindExamples: { question: "What are the names of the people?" },
  callRunQuery: target,
  callExplainResult: { run_id: "run-id" },
  callBuildQuery: { step: "open", value: "people" },
  callGetVoidDescriptions: { endpoint: "people" },
  callRunSparqlQuery: { query: `SELECT * { SERVICE <people> { ?s ?p ?o } } LIMIT 3` },
  callSubmitFinalQuery: { query },
  callAcceptAdapter: { endpoint: "people", key: "urn:a:key", other: "places", other_key: "urn:b:key" },
  createEndpoint: { id: "my-endpoint", ...endpoint },
  putEndpoint: endpoint,
  changeEndpoint: { title: "My endpoint, renamed" },
  createFederation: { id: "my-federation", ...federation },
  putFederation: federation,
  changeFederation: { title: "My federation, renamed" },
  acceptAdapter: { key: "urn:a:key", other: "places", otherKey: "urn:b:key" },
  buildShards: { file: "my-benchmark.json" },
  announceMaintenance: { to: "2027-01-01T06:00:00Z", reason: "Upgrade of the store" },
  addWatch: { id: "names", ...watch },
  putWatch: watch,
  addClient: { name: "notebook", role: "query" },
  rotateKey: { graceSeconds: 3_600 },
  signIn: { token: "the-admin-token" },
};

/** Changes have ids that no catalogue has, so that trying one out harms nothing. */
const ids: readonly (readonly [pattern: RegExp, read: string, changed: string])[] = [
  [/\/(?:endpoints|hosted)\//, "people", "my-endpoint"],
  [/\/federations\//, "examples", "my-federation"],
  [/\/watches\//, "names", "names"],
  [/\/sessions\//, "my-session", "my-session"],
];
const parameters: Readonly<Record<string, string>> = {
  q: "names of people",
  to: "places",
  endpoint: "people",
  page: "answers",
  name: "notebook",
  dataset: "stations",
  shard: "shard-1",
};

function exampleOf(parameter: Node, path: string, isChange: boolean): string {
  const name = String(parameter["name"]);
  const [, read, changed] = (name === "id" && ids.find(([pattern]) => pattern.test(path))) || [];
  return (isChange ? changed : read) ?? parameters[name] ?? `${name}-1`;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;
const nodesIn = (value: unknown): readonly (readonly [string, Node])[] =>
  Object.entries(isNode(value) ? value : {}).flatMap(([name, each]) => (isNode(each) ? [[name, each] as const] : []));

/** Of JSON and forms, which every tool can send. */
const bodyExample = (operationId: string, mediaType: string): unknown =>
  /\bjson$|x-www-form-urlencoded$/.test(mediaType) && mediaType !== "application/ld+json"
    ? (bodies[operationId] ?? (operationId.startsWith("query") ? { query } : undefined))
    : undefined;

/** The document with its examples. */
export function addExamples(document: Node): Node {
  for (const [path, item] of nodesIn(document["paths"])) {
    for (const [method, operation] of nodesIn(item)) {
      for (const [, parameter] of nodesIn(operation["parameters"]))
        if (parameter["required"] === true)
          parameter["example"] = exampleOf(parameter, path, !/^(?:get|post)$/.test(method));
      const { requestBody } = operation;
      for (const [mediaType, body] of nodesIn(isNode(requestBody) ? requestBody["content"] : undefined)) {
        const example = bodyExample(String(operation["operationId"]), mediaType);
        if (example !== undefined) body["example"] = example;
      }
    }
  }
  return document;
}
