import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Role, roles } from "../../../src/clients/client-keys.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

// One ability has one role, by whichever door it is used.

const adminToken = "a-token-of-these-tests";
const keys = new Map<Role, string>();
let service: RunningService;
/** A run of somebody else, which has ended. */
let run = "";

async function send(
  method: string,
  path: string,
  key: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(service.url + path, {
    method,
    redirect: "manual",
    headers: {
      Authorization: `Bearer ${key}`,
      Accept: path.startsWith("/api") ? "application/json" : "application/json, text/event-stream, text/html",
      ...(body && { "Content-Type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

beforeAll(async () => {
  service = await startService(
    {},
    { FEDWAY_ADMIN_TOKEN: adminToken, FEDWAY_EXAMPLES: "on", FEDWAY_ACCEPT_ADAPTERS: "on" },
  );
  for (const role of roles) {
    const { text } = await send("POST", "/api/keys", adminToken, { name: `a-${role}`, role });
    keys.set(role, String(JSON.parse(text).key));
  }
  const answer = await service.query("SELECT * { SERVICE <people> { ?s ?p ?o } } LIMIT 1");
  run = answer.headers.get("fedway-run") ?? "";
  await answer.text();
});
afterAll(() => service?.close());

const adapter = { key: "urn:a", other: "places", otherKey: "urn:b" };
const toolArguments = { endpoint: "people", key: "urn:a", other: "places", other_key: "urn:b" };
const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "accept_adapter", arguments: toolArguments },
};

type Door = readonly [name: string, use: (key: string) => Promise<boolean>];
const isAllowed = ({ status, text }: { readonly status: number; readonly text: string }): boolean =>
  status !== 401 && status !== 403 && !/ROLE_REFUSED|TOKEN_REQUIRED|RUN_FOREIGN/u.test(text);

const abilities: readonly (readonly [ability: string, needs: Role, doors: readonly Door[]])[] = [
  [
    "see the runs of all",
    "admin",
    [
      ["GET /api/runs", async (key) => (await send("GET", "/api/runs", key)).text.includes(run)],
      ["GET /runs", async (key) => (await send("GET", "/runs", key)).text.includes(run)],
    ],
  ],
  [
    "cancel the runs of all",
    "admin",
    [
      ["DELETE /api/runs/{id}", async (key) => isAllowed(await send("DELETE", `/api/runs/${run}`, key))],
      ["POST /runs/{id}/cancel", async (key) => isAllowed(await send("POST", `/runs/${run}/cancel`, key))],
    ],
  ],
  [
    "change the joins of all",
    "write",
    [
      [
        "POST /api/endpoints/{id}/adapters",
        async (key) => isAllowed(await send("POST", "/api/endpoints/people/adapters", key, adapter)),
      ],
      [
        "POST /api/tools/accept_adapter",
        async (key) => isAllowed(await send("POST", "/api/tools/accept_adapter", key, toolArguments)),
      ],
      ["accept_adapter of MCP", async (key) => isAllowed(await send("POST", "/mcp?profile=full", key, call))],
    ],
  ],
  [
    "use tools that change nothing",
    "query",
    [
      [
        "POST /api/tools/find_endpoints",
        async (key) => isAllowed(await send("POST", "/api/tools/find_endpoints", key, {})),
      ],
      [
        "find_endpoints of MCP",
        async (key) => isAllowed(await send("POST", "/mcp", key, { ...call, params: { name: "find_endpoints" } })),
      ],
    ],
  ],
];

describe.each(abilities)("%s", (_, needs, doors) => {
  it.each(doors)(`needs ${needs} at %s`, async (_door, use) => {
    const allowed: Role[] = [];
    for (const role of roles) if (await use(keys.get(role) ?? "")) allowed.push(role);
    expect(allowed).toEqual(roles.slice(roles.indexOf(needs)));
  });
});
