import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createMonitoredFolder, type MonitoredService } from "../../support/monitored-service.ts";
import { type PrivateEndpoint, startPrivateEndpoint, startTokenServer } from "../../support/private-endpoint.ts";
import { openService, problemOf } from "../../support/running-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";
import { startScriptedModel } from "../../support/scripted-model.ts";
import { startWebhookReceiver } from "../../support/webhook-receiver.ts";

// A service whose operator names private addresses, and has not set FEDWAY_ALLOW_ADDRESSES: in the settings, in the file
// of credentials, and in his catalogue. What anybody else writes stays refused.

const none = { FEDWAY_ALLOW_ADDRESSES: "" };
const webhookSecret = Buffer.from("a-secret-of-32-bytes-for-testing");
const clientSecret = "client-secret-0123456789";
const secretFolder = newFolder();
let endpoint: PrivateEndpoint;
let guarded: PrivateEndpoint;
let other: PrivateEndpoint;
let tokens: Awaited<ReturnType<typeof startTokenServer>>;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>;
let folder: Awaited<ReturnType<typeof createMonitoredFolder>>;
let env: Record<string, string>;
let service: MonitoredService;

beforeAll(async () => {
  endpoint = await startPrivateEndpoint('<urn:s> <urn:p> "value" .', () => true);
  other = await startPrivateEndpoint('<urn:s> <urn:p> "other" .', () => true);
  tokens = await startTokenServer("fedway", clientSecret);
  guarded = await startPrivateEndpoint(
    '<urn:s> <urn:p> "guarded" .',
    ({ authorization }) => authorization === `Bearer ${tokens.issued.at(-1)}`,
  );
  model = await startScriptedModel();
  receiver = await startWebhookReceiver(webhookSecret.toString());
  const credentials = join(secretFolder, "credentials.json");
  const oauth = { type: "oauth", tokenUrl: tokens.url, clientId: "fedway", clientSecret };
  await writeFile(credentials, JSON.stringify({ guarded: oauth }), { mode: 0o600 });
  env = {
    ...none,
    FEDWAY_EGRESS: "public",
    FEDWAY_CREDENTIALS: credentials,
    FEDWAY_CHAT: model.url,
    FEDWAY_CHAT_MODEL: "scripted",
    FEDWAY_WEBHOOKS: `${receiver.origin}/hook`,
    FEDWAY_WEBHOOK_SECRET: `whsec_${webhookSecret.toString("base64")}`,
    FEDWAY_WEBHOOK_GROUP_MS: "0",
  };
  folder = await createMonitoredFolder({
    literal: endpoint.url,
    named: guarded.url.replace("127.0.0.1", "localhost"),
    guarded: guarded.url,
    down: "http://127.0.0.1:1/sparql",
    metadata: "http://169.254.169.254/latest/meta-data",
  });
  service = await folder.start(env);
});
afterAll(async () => {
  await service?.close();
  await Promise.all([endpoint, guarded, other, tokens, model, receiver].map((server) => server?.close()));
});

const rows = async (at: string): Promise<readonly { readonly o: { readonly value: string } }[]> => {
  const response = await service.query("SELECT ?o { ?s <urn:p> ?o }", { path: `/endpoints/${at}/sparql` });
  const answer = (await response.json()) as { results: { bindings: { o: { value: string } }[] } };
  return answer.results.bindings;
};

describe("private addresses that the operator wrote", () => {
  it("are asked as his entries", async () => {
    expect(await rows("literal")).toEqual([{ o: { type: "literal", value: "value" } }]);
    const federated = await service.query(
      `SELECT ?o { SERVICE <${endpoint.url}> { ?s <urn:p> ?o } SERVICE <literal> { ?s <urn:p> ?o } }`,
    );
    expect(await federated.text()).toContain('"value"');
  });
  it("give tokens", async () => {
    expect(await rows("guarded")).toMatchObject([{ o: { value: "guarded" } }]);
    expect(tokens.bodies).toHaveLength(1);
  });
  it("are asked as a chat model", async () => {
    model.answer({ text: "```sparql\nSELECT ?o { SERVICE <literal> { ?s <urn:p> ?o } }\n```" });
    const answer = await service.change("POST", "/api/ask", { question: "Which value?", endpoints: ["literal"] });
    expect(answer).toMatchObject({ status: 200, body: { stopped: expect.not.stringContaining("model") } });
    expect(model.sent.length).toBeGreaterThan(0);
  });
  it("receive webhooks", async () => {
    await eventually(() => expect(receiver.received[0]).toMatchObject({ path: "/hook", authentic: true }));
  });
  it("are refused in settings where they are link-local, at the start", async () => {
    for (const [setting, value] of [
      ["FEDWAY_CHAT", "http://169.254.169.254/v1"],
      ["FEDWAY_EMBEDDINGS", "http://[fd00:ec2::254]/v1"],
      ["FEDWAY_WEBHOOKS", "https://100.100.100.200/key-0123"],
    ] as const) {
      const error: unknown = await openService({}, { ...env, [setting]: value }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: "CONFIG_INVALID",
        message: `${setting} names an address that Fedway may not connect to.`,
        details: { next: "FEDWAY_ALLOW_ADDRESSES has to name its address range." },
      });
    }
  });
  it("are refused in entries where they are link-local", async () => {
    const answer = await service.query("ASK { ?s ?p ?o }", { path: "/endpoints/metadata/sparql" });
    expect(await problemOf(answer)).toMatchObject({
      code: "ADDRESS_REFUSED",
      next: "FEDWAY_ALLOW_ADDRESSES has to name its address range.",
    });
  });
});

describe("private addresses that came over the API", () => {
  const byName = (url: string): string => url.replace("127.0.0.1", "localhost");
  const entry = (id: string, url: string) => ({ id, title: id, url });
  /** Requests that anything but the operator's own purposes has caused. */
  const astray = (): readonly string[] => {
    const hooks = receiver.received.filter(({ authentic }) => !authentic).map(({ path }) => path);
    const paths = endpoint.requests.map(({ path }) => path).filter((path) => !path.startsWith("/sparql"));
    return [...other.requests.map(({ path }) => path), ...hooks, ...paths];
  };

  it("are refused as entries, with the remedy", async () => {
    const answers = [
      await service.change("POST", "/api/endpoints", entry("api-literal", other.url)),
      await service.change("PATCH", "/api/endpoints/literal", { url: other.url }),
      await service.change("PATCH", "/api/endpoints/literal", { url: `${endpoint.url}?x=1` }),
      await service.change("POST", "/api/endpoints", entry("api-model", model.url)),
      await service.change("POST", "/api/endpoints", entry("api-hook", `${receiver.origin}/hook`)),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(422);
      expect(body).toMatchObject({ detail: expect.stringContaining("FEDWAY_ALLOW_ADDRESSES") });
    }
  });

  it("are refused when they are asked, also after a restart and by the names of the operator's hosts", async () => {
    // Names are judged when they are dialled.
    const url = byName(other.url);
    expect(await service.change("POST", "/api/endpoints", entry("api-named", url))).toMatchObject({ status: 201 });
    const hook = byName(`${receiver.origin}/hook`);
    expect(await service.change("POST", "/api/endpoints", entry("api-hook", hook))).toMatchObject({ status: 201 });
    for (const life of ["first", "second"]) {
      if (life === "second") {
        await service.close();
        service = await folder.start({ ...env, FEDWAY_MONITOR: "off" });
      }
      for (const id of ["api-named", "api-hook"]) {
        const answer = await service.query("ASK { ?s ?p ?o }", { path: `/endpoints/${id}/sparql` });
        expect(await problemOf(answer)).toMatchObject({
          code: "ADDRESS_REFUSED",
          next: expect.stringContaining("a file in the folder that FEDWAY_CATALOG names"),
        });
      }
    }
    expect(astray()).toEqual([]);
  });

  it("are refused as SERVICE targets, the operator's own included where it is not exactly they", async () => {
    const urls = [other.url, byName(other.url), `${endpoint.url}/x`, byName(endpoint.url), `${receiver.origin}/hook`];
    urls.push(`${model.url}/chat/completions`, tokens.url);
    for (const url of urls) {
      const answer = await service.query(`ASK { SERVICE <${url}> { ?s ?p ?o } }`);
      expect(`${url} ${answer.status} ${await answer.text()}`).toContain("ADDRESS_REFUSED");
    }
    expect(astray()).toEqual([]);
  });

  it("are refused under the id of an entry of his that they replace", async () => {
    const { status } = await service.change("PATCH", "/api/endpoints/named", { url: `${byName(other.url)}?x=1` });
    expect(status).toBe(200);
    const answer = await service.query("ASK { ?s ?p ?o }", { path: "/endpoints/named/sparql" });
    expect(await problemOf(answer)).toMatchObject({ code: "ADDRESS_REFUSED" });
    expect(astray()).toEqual([]);
  });

  it("leave what else is changed of his entries allowed", async () => {
    const { status } = await service.change("PATCH", "/api/endpoints/literal", { title: "Another title" });
    expect(status).toBe(200);
    expect(await rows("literal")).toMatchObject([{ o: { value: "value" } }]);
  });
});
