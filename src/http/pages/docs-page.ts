import { type Html, html } from "../../html.ts";
import { tokenHeader } from "./login.ts";
import { page, table, toCopy } from "./layout.ts";

/** A value of the OpenAPI document, read with care: it is data like any other. */
type Node = Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const nodeAt = (value: unknown, ...keys: readonly string[]): Node => {
  let at = value;
  for (const key of keys) at = isNode(at) ? at[key] : undefined;
  return isNode(at) ? at : {};
};
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** One operation of the API. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly content: Node;
}

const methods = new Set(["get", "post", "put", "patch", "delete"]);

const operationsOf = (document: unknown): readonly Operation[] =>
  Object.entries(nodeAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(isNode(item) ? item : {})
      .filter(([method]) => methods.has(method))
      .map(([method, content]) => ({
        method: method.toUpperCase(),
        path,
        tag: textOf(listOf(nodeAt(content)["tags"])[0]) || "Other",
        content: nodeAt(content),
      })),
  );

function typeOf(schema: Node): string {
  const choices = listOf(schema["anyOf"] ?? schema["enum"]).map((choice) =>
    isNode(choice) ? JSON.stringify(choice["const"] ?? choice["type"] ?? "…") : JSON.stringify(choice),
  );
  if (choices.length > 0) return choices.join(" | ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  const type = textOf(schema["type"]) || "any";
  return type === "array" ? `${typeOf(nodeAt(schema, "items"))}, repeatable` : type;
}

interface Field {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly schema: Node;
  readonly description: string;
}

const parameterFields = ({ content }: Operation): readonly Field[] =>
  listOf(content["parameters"])
    .filter(isNode)
    .map((parameter) => ({
      name: textOf(parameter["name"]),
      place: textOf(parameter["in"]),
      required: parameter["required"] === true,
      schema: nodeAt(parameter, "schema"),
      description: textOf(parameter["description"]) || textOf(nodeAt(parameter, "schema")["description"]),
    }));

function bodyFields({ content }: Operation): readonly Field[] {
  const schema = nodeAt(content, "requestBody", "content", "application/json", "schema");
  const required = listOf(schema["required"]);
  return Object.entries(nodeAt(schema, "properties")).map(([name, property]) => ({
    name,
    place: "body",
    required: required.includes(name),
    schema: nodeAt(property),
    description: textOf(nodeAt(property)["description"]),
  }));
}

const row = ({ name, place, required, schema, description }: Field): Html =>
  html`<tr><td><code>${name}</code></td><td>${place}${required ? ", required" : ""}</td><td><code>${typeOf(schema)}</code></td><td>${description}</td></tr>
`;

const fieldTable = (fields: readonly Field[], name: string): Html =>
  fields.length === 0
    ? html``
    : table({ name: `Parameters of ${name}`, heads: ["Name", "Where", "Type", "Meaning"], rows: fields.map(row) });

const exampleQuery = "SELECT ?one WHERE { VALUES ?one { 1 } }";

/** A command that can be pasted into a shell. */
function curl({ method, path, tag, content }: Operation, publicUrl: string): string {
  const url = `'${publicUrl}${path}'`;
  if (tag === "SPARQL" && method === "GET") return `curl -sG ${url} --data-urlencode 'query=${exampleQuery}'`;
  if (tag === "SPARQL") {
    return `curl -s ${url} -H 'Content-Type: application/sparql-query' -H 'Accept: text/csv' \\\n  --data-binary '${exampleQuery}'`;
  }
  if (listOf(content["security"]).length > 0) {
    const body = "requestBody" in content ? " \\\n  -H 'Content-Type: application/json' -d '{}'" : "";
    return `curl -s -X ${method} ${url} \\\n  ${tokenHeader}${body}`;
  }
  if (method === "GET") return `curl -s ${url}`;
  return `curl -s ${url} -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ query: exampleQuery })}'`;
}

const anchor = ({ method, path }: Operation): string =>
  `${method}${path}`.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase();

const section = (operation: Operation, publicUrl: string): Html => html`<section class="card">
<h3 class="operation" id="${anchor(operation)}"><span class="method">${operation.method}</span> <code>${operation.path}</code></h3>
<p>${textOf(operation.content["summary"])}.</p>
${fieldTable([...parameterFields(operation), ...bodyFields(operation)], `${operation.method} ${operation.path}`)}${toCopy(`Command: ${operation.method} ${operation.path}`, curl(operation, publicUrl))}
</section>
`;

/** The OpenAPI document as a page: every operation with its parameters and a command to paste (one click selects it). */
export function docsPage(document: unknown, { publicUrl }: { readonly publicUrl: string }): string {
  const info = nodeAt(document, "info");
  const operations = operationsOf(document);
  const known = listOf(nodeAt(document)["tags"]).map((tag) => textOf(nodeAt(tag)["name"]));
  const tags = [...new Set([...known, ...operations.map(({ tag }) => tag)])];
  const ofTag = (tag: string): readonly Operation[] => operations.filter((operation) => operation.tag === tag);
  return page({
    title: "API - Fedway",
    part: "docs",
    main: html`<h1>Fedway API</h1>
<p class="lead">${textOf(info["description"])}</p>
<p>Version ${textOf(info["version"])} · <a href="/openapi.json">OpenAPI document</a></p>
<nav class="card" aria-label="Operations"><ul class="anchors">
${tags.flatMap(ofTag).map((operation) => html`<li><a href="#${anchor(operation)}">${operation.method} <code>${operation.path}</code></a></li>\n`)}</ul></nav>
${tags.filter((tag) => ofTag(tag).length > 0).map((tag) => html`<h2>${tag}</h2>\n${ofTag(tag).map((operation) => section(operation, publicUrl))}`)}`,
  });
}
