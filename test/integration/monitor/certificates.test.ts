import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { createMonitor } from "../../../src/monitor/create-monitor.ts";
import { createEndpointProbe } from "../../../src/monitor/probe-endpoint.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { createAsker } from "../../../src/outbound/whole-answer.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { until } from "../../support/eventually.ts";
import { listening } from "../../support/listening.ts";
import { startSparqlTestServer } from "../../support/sparql-test-server.ts";

const dayMs = 24 * 3_600_000;
const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** A self-signed certificate for 127.0.0.1 that this process trusts. */
function certificate(days: number) {
  const folder = mkdtempSync(join(tmpdir(), "fedway-tls-"));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-days", String(days), "-keyout", keyFile, "-out", certFile];
  execFileSync("openssl", [...request, ...names, ...files], { stdio: "pipe" });
  const cert = readFileSync(certFile, "utf8");
  setDefaultCACertificates([...getCACertificates("default"), cert]);
  return { key: readFileSync(keyFile, "utf8"), cert };
}

/** A SPARQL endpoint behind TLS; `renew` gives it another certificate and ends its connections. */
async function startTlsEndpoint(days: number) {
  const endpoint = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  const sockets = new Set<TLSSocket>();
  const server = createServer(certificate(days), (socket) => {
    sockets.add(socket);
    const plain = connect(Number(new URL(endpoint.url).port), "127.0.0.1");
    socket.on("error", () => plain.destroy()).on("close", () => plain.destroy());
    plain.on("error", () => socket.destroy());
    socket.pipe(plain).pipe(socket);
  });
  const { port, close } = await listening(server);
  closings.push(() => endpoint.close(), close);
  return {
    url: endpoint.url.replace(/^http:\/\/[^/]+/u, `https://127.0.0.1:${port}`),
    renew(next: number): void {
      server.setSecureContext(certificate(next));
      for (const socket of sockets) socket.destroy();
    },
  };
}

function watch(url: string) {
  const options = { version: "1", allowAddresses: ["127.0.0.0/8"] };
  const client = createSparqlClient(options);
  const documents = createDocumentClient(options);
  const store = openSqliteStore({ path: ":memory:" });
  const entries = [catalogEntry("secure", { url })];
  const told: string[] = [];
  const monitor = createMonitor({
    catalog: { entries, byId: (id) => entries.find((entry) => entry.id === id) },
    store,
    probe: createEndpointProbe({
      asker: createAsker({ client, documents }),
      capabilities: { view: () => undefined },
      clock: systemClock,
      timeoutMs: 5_000,
      retryMs: 5,
    }),
    certificateEndMs: (one) => client.certificateEndMs(one),
    clock: systemClock,
    settings: { enabled: true, everyMs: 300, jitter: 0, incidentAfter: 5, recoveredAfter: 1, certificateDays: 14 },
    work: true,
    soleOwner: true,
    tickMs: 50,
    tell: async ({ kind, incident }) => void told.push(`${incident.kind} ${kind}`),
  });
  closings.push(
    () => store.close(),
    () => documents.close(),
    () => client.close(),
    () => monitor.close(),
  );
  return { monitor, told };
}

it("a certificate that ends soon is one incident of an endpoint that is up, until there is another one", async () => {
  const endpoint = await startTlsEndpoint(5);
  const { monitor, told } = watch(endpoint.url);
  const before = Date.now();
  await monitor.start();
  const [found] = await until(async () => {
    const open = await monitor.incidents({ open: true });
    return open.length > 0 && open;
  });
  const endMs = Date.parse(/ends at (.*Z)\.$/u.exec(found?.summary ?? "")?.[1] ?? "");
  expect(found).toMatchObject({ kind: "certificate", endpoint: "secure" });
  expect(Math.abs(endMs - before - 5 * dayMs)).toBeLessThan(60_000);
  expect(monitor.health("secure")).toMatchObject({ state: "up" });

  endpoint.renew(90);
  await until(async () => (await monitor.incident(found?.id ?? ""))?.closedMs !== undefined);
  await until(() => told.length === 2);
  expect(told).toEqual(["certificate incident-opened", "certificate incident-closed"]);
});
