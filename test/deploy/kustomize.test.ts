import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/config.ts";
import { configReference } from "../../src/config/config.ts";
import { type KubernetesObject, schemaProblems } from "../support/deploy/deploy-checkers.ts";
import { only, pairs, parseDockerfile, type Stage } from "../support/deploy/dockerfile.ts";
import { inBytes, plannedBytes } from "../support/deploy/memory.ts";
import { type Labels, type Rendered, renderOverlay, selects, type Workload } from "../support/deploy/rendered.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const runtime = parseDockerfile(read("deploy/Dockerfile")).at(-1) as Stage;
const ofOperator = ({ apiVersion }: KubernetesObject): boolean => apiVersion === "monitoring.coreos.com/v1";

/** Stand-ins for the Secret's values. */
const secretValues: Readonly<Record<string, string>> = {
  REDIS_URL: "redis://:secret@redis:6379/0",
  FEDWAY_ADMIN_TOKEN: "0123456789abcdef",
  FEDWAY_WEBHOOKS: "https://hooks.example.org/",
  FEDWAY_WEBHOOK_SECRET: "abcdef0123456789",
};

/** The environment of a Fedway pod: the image's, the ConfigMap's, its own. */
function environmentOf(rendered: Rendered, { container }: Workload): Readonly<Record<string, string>> {
  const settings = (container.envFrom ?? []).map(
    ({ configMapRef }) => rendered.get("ConfigMap", configMapRef.name).data ?? {},
  );
  const own = container.env.map(({ name, value, valueFrom }) => [
    name,
    value ?? secretValues[valueFrom?.secretKeyRef?.key ?? ""] ?? "",
  ]);
  return Object.assign({}, pairs(runtime, "ENV"), ...settings, Object.fromEntries(own)) as Record<string, string>;
}

const fedwayOf = ({ workloads }: Rendered): readonly Workload[] =>
  workloads.filter(({ labels }) => labels["app.kubernetes.io/name"] === "fedway");

describe.each([
  { overlay: "dev", expected: { web: 1, worker: 1, workloads: 3, objects: 14 } },
  { overlay: "production", expected: { web: undefined, worker: 2, workloads: 2, objects: 18 } },
])("overlay $overlay", ({ overlay, expected }) => {
  let rendered: Rendered;
  beforeAll(() => {
    rendered = renderOverlay(overlay);
  });

  it("renders to so many objects, each once, all in one namespace that is among them", () => {
    const names = rendered.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBe(expected.objects);
    const [namespace, ...others] = rendered.ofKind("Namespace");
    expect(others).toEqual([]);
    const inside = rendered.objects.filter(({ kind }) => kind !== "Namespace");
    expect(new Set(inside.map(({ metadata }) => metadata.namespace))).toEqual(new Set([namespace?.metadata.name]));
  });

  it.each(["1.29", "1.33", "1.37"])("is right by the schemas of Kubernetes %s", (version) => {
    const builtIn = rendered.objects.filter((object) => !ofOperator(object));
    expect(builtIn.length).toBeGreaterThan(10);
    expect(schemaProblems(builtIn, version)).toBe("");
  });

  it("holds no Secret, and names the one it needs", () => {
    expect(rendered.ofKind("Secret")).toEqual([]);
    const references = rendered.workloads.flatMap(({ container }) =>
      container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
    );
    expect(new Set(references.map(({ name }) => name))).toEqual(new Set(["fedway-secrets"]));
    const literal = rendered.workloads.flatMap(({ container }) =>
      container.env.filter(({ name, value }) => value !== undefined && /PASSWORD|TOKEN|SECRET|AUTH|URL/.test(name)),
    );
    expect(literal).toEqual([]);
  });

  it("has as many pods as the overlay promises", () => {
    expect(rendered.workload("fedway-web").replicas).toBe(expected.web);
    expect(rendered.workload("fedway-worker").replicas).toBe(expected.worker);
    expect(rendered.workloads.length).toBe(expected.workloads);
  });

  it("selects by every selector what it means, and nothing else", () => {
    for (const { name, selector } of rendered.workloads) {
      const chosen = rendered.workloads.filter(({ labels }) => selects(selector, labels));
      expect(chosen.map((workload) => workload.name)).toEqual([name]);
    }
    const shouldSelect = (kind: string, name: string, selector: Labels, workloads: readonly string[]) => {
      const chosen = rendered.workloads.filter(({ labels }) => selects(selector, labels));
      expect({ kind, name, workloads: chosen.map((workload) => workload.name) }).toEqual({ kind, name, workloads });
    };
    const chosenBy: Readonly<Record<string, readonly string[]>> = {
      fedway: ["fedway-web"],
      "fedway-metrics": ["fedway-web", "fedway-worker"],
      "fedway-redis": ["fedway-redis"],
      "fedway-web": ["fedway-web"],
      "fedway-worker": ["fedway-worker"],
    };
    for (const { kind, metadata, spec } of rendered.ofKind("Service")) {
      const { selector } = spec as { selector: Labels };
      shouldSelect(kind, metadata.name, selector, chosenBy[metadata.name] ?? []);
    }
    for (const { kind, metadata, spec } of rendered.ofKind("PodDisruptionBudget")) {
      const { matchLabels } = (spec as { selector: { matchLabels: Labels } }).selector;
      shouldSelect(kind, metadata.name, matchLabels, chosenBy[metadata.name] ?? []);
    }
    expect(rendered.ofKind("PodDisruptionBudget").length).toBe(2);
  });

  it("leads every Service to a port that the pods have", () => {
    const services = rendered.ofKind("Service");
    expect(services.length).toBeGreaterThanOrEqual(2);
    for (const { spec } of services) {
      const { selector, ports } = spec as { selector: Labels; ports: readonly { targetPort: string }[] };
      for (const { labels, container } of rendered.workloads.filter((workload) => selects(selector, workload.labels))) {
        const names = new Set(container.ports.map(({ name }) => name));
        expect(ports.filter(({ targetPort }) => !names.has(targetPort))).toEqual([]);
        expect(labels).toMatchObject(selector);
      }
    }
  });

  it("lets one pod at a time be evicted, and never so many that scaling cannot make up for it", () => {
    for (const { spec } of rendered.ofKind("PodDisruptionBudget")) expect(spec).toMatchObject({ maxUnavailable: 1 });
    for (const { spec } of rendered.ofKind("HorizontalPodAutoscaler")) {
      const { scaleTargetRef, minReplicas, maxReplicas } = spec as {
        scaleTargetRef: { kind: string; name: string };
        minReplicas: number;
        maxReplicas: number;
      };
      expect(rendered.workload(scaleTargetRef.name)).toMatchObject({ kind: scaleTargetRef.kind, replicas: undefined });
      expect(minReplicas).toBeGreaterThanOrEqual(2);
      expect(maxReplicas).toBeGreaterThan(minReplicas);
    }
    expect(rendered.ofKind("HorizontalPodAutoscaler").length).toBe(expected.web === undefined ? 1 : 0);
  });

  it("gives no pod rights in the cluster", () => {
    expect(rendered.get("ServiceAccount", "fedway").automountServiceAccountToken).toBe(false);
    for (const { pod } of rendered.workloads) {
      expect(pod).toMatchObject({ serviceAccountName: "fedway", automountServiceAccountToken: false });
    }
  });

  it("meets the restricted pod security standard, with a read-only root", () => {
    expect(rendered.ofKind("Namespace")[0]?.metadata.labels).toMatchObject({
      "pod-security.kubernetes.io/enforce": "restricted",
    });
    for (const { pod, container } of rendered.workloads) {
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(Object.keys(container.resources.limits)).toContain("memory");
      expect(Object.keys(container.resources.requests)).toEqual(expect.arrayContaining(["cpu", "memory"]));
      expect(container.image).toMatch(/:\d+\.\d+\.\d+(-[a-z]+)?$/);
    }
  });

  it("runs the image as its own user, with the folders writable that it writes to", () => {
    const [user, group] = only(runtime, "USER").text.split(":").map(Number);
    for (const { pod, container } of fedwayOf(rendered)) {
      expect(pod.securityContext).toMatchObject({ runAsUser: user, runAsGroup: group, fsGroup: group });
      expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([only(runtime, "VOLUME").text, "/tmp"]);
      // One folder for all pods: what a worker builds the web pods host.
      expect(pod.volumes).toEqual([
        { name: "data", persistentVolumeClaim: { claimName: "fedway-data" } },
        { name: "tmp", emptyDir: { sizeLimit: expect.any(String) } },
      ]);
      expect(container.image.split(":")[1]).toBe(pairs(runtime, "LABEL")["org.opencontainers.image.version"]);
    }
  });

  it("sets only variables that Fedway knows, to values that it takes", () => {
    const known = new Set([...configReference.map(({ name }) => name), "NODE_ENV", "NODE_OPTIONS"]);
    const pods = fedwayOf(rendered);
    expect(pods.map(({ name }) => name)).toEqual(["fedway-web", "fedway-worker"]);
    for (const workload of pods) {
      const environment = environmentOf(rendered, workload);
      expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
      const config = loadConfig(environment);
      expect(config.role).toBe(workload.labels["app.kubernetes.io/component"]);
      expect(config).toMatchObject({ redisUrl: secretValues["REDIS_URL"], host: "0.0.0.0", examples: false });
      expect(config.limits.rateLimit).toBe(600);
      expect(config.adminToken).toBe(config.role === "web" ? secretValues["FEDWAY_ADMIN_TOKEN"] : undefined);
      expect(config.monitor.webhookSecret).toBe(secretValues["FEDWAY_WEBHOOK_SECRET"]);
      expect(config.metricsPort).toBeTypeOf("number");
      expect(workload.container.ports).toEqual([
        { name: "http", containerPort: config.port },
        { name: "metrics", containerPort: config.metricsPort },
      ]);
      // Service links would add names that begin with FEDWAY_.
      expect(workload.pod.enableServiceLinks).toBe(false);
    }
  });

  it("gives a pod the memory that its processes may need", () => {
    for (const workload of fedwayOf(rendered)) {
      const environment = environmentOf(rendered, workload);
      const planned = plannedBytes(loadConfig(environment), environment["NODE_OPTIONS"]);
      expect(planned).toBeGreaterThan(0);
      expect(planned).toBeLessThanOrEqual(inBytes(workload.container.resources.limits["memory"]));
    }
  });

  it("gives a pod time to drain: readiness first, then the queries under way", () => {
    for (const workload of fedwayOf(rendered)) {
      const { drainMs, limits } = loadConfig(environmentOf(rendered, workload));
      const { readinessProbe } = workload.container;
      const noticedMs = readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1000;
      expect(drainMs).toBeGreaterThan(noticedMs);
      expect(workload.pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(limits.timeoutMs + drainMs);
      expect(workload.strategy).toEqual({
        type: "RollingUpdate",
        rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
      });
    }
  });

  it("probes paths that the service has", () => {
    const routes = read("src/http/system-routes.ts");
    for (const { container } of fedwayOf(rendered)) {
      const { startupProbe, readinessProbe, livenessProbe } = container;
      const paths = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet?.path);
      expect(paths).toEqual(["/health/live", "/health/ready", "/health/live"]);
      expect(paths.filter((path) => !routes.includes(`app.get("${path}"`))).toEqual([]);
      expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet?.port)).toEqual(
        Array.from({ length: 3 }, () => "http"),
      );
    }
  });

  it("spreads the pods of a role over zones and nodes", () => {
    for (const { labels, pod } of fedwayOf(rendered)) {
      const spread = pod.topologySpreadConstraints ?? [];
      expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
        "topology.kubernetes.io/zone",
        "kubernetes.io/hostname",
      ]);
      const role = {
        "app.kubernetes.io/name": "fedway",
        "app.kubernetes.io/component": labels["app.kubernetes.io/component"],
      };
      expect(spread.map(({ labelSelector }) => labelSelector.matchLabels)).toEqual([role, role]);
    }
  });
});

describe("monitoring of the production overlay", () => {
  let rendered: Rendered;
  beforeAll(() => {
    rendered = renderOverlay("production");
  });

  it("is left out of the dev overlay, for clusters without the operator", () => {
    expect(renderOverlay("dev").objects.filter(ofOperator)).toEqual([]);
    expect(rendered.objects.filter(ofOperator).map(({ kind }) => kind)).toEqual(["PrometheusRule", "ServiceMonitor"]);
  });

  it("scrapes every pod by a Service that the monitor selects, as job fedway", () => {
    const monitor = rendered.get("ServiceMonitor", "fedway").spec as {
      jobLabel: string;
      selector: { matchLabels: Labels };
      endpoints: readonly { port: string; path: string }[];
    };
    const chosen = rendered
      .ofKind("Service")
      .filter(({ metadata }) => selects(monitor.selector.matchLabels, metadata.labels ?? {}));
    expect(chosen.map(({ metadata }) => metadata.name)).toEqual(["fedway-metrics"]);
    expect(chosen[0]?.metadata.labels?.[monitor.jobLabel]).toBe("fedway");
    const { ports } = rendered.get("Service", "fedway-metrics").spec as { ports: readonly { name: string }[] };
    expect(monitor.endpoints.map(({ port }) => port)).toEqual(ports.map(({ name }) => name));
    expect(monitor.endpoints.map(({ path }) => path)).toEqual(["/metrics"]);
  });

  it("leads clients to another port than the one of the metrics", () => {
    const targets = (name: string): readonly string[] =>
      (rendered.get("Service", name).spec as { ports: readonly { targetPort: string }[] }).ports.map(
        ({ targetPort }) => targetPort,
      );
    expect([targets("fedway"), targets("fedway-metrics")]).toEqual([["http"], ["metrics"]]);
  });

  it("has the rules of deploy/prometheus (else run deploy/build-prometheus-rule.mjs)", () => {
    const folder = "deploy/prometheus/rules";
    const files = readdirSync(join(root, folder)).toSorted();
    const groups = files.flatMap((file) => (parse(read(`${folder}/${file}`)) as { groups: readonly unknown[] }).groups);
    expect(groups.length).toBeGreaterThan(2);
    expect(rendered.get("PrometheusRule", "fedway").spec).toEqual({ groups });
  });

  it("knows the host name of its Ingress as the public URL, by TLS", () => {
    const { rules, tls } = rendered.get("Ingress", "fedway").spec as {
      rules: readonly { host: string; http: { paths: readonly { backend: { service: { name: string } } }[] } }[];
      tls: readonly { hosts: readonly string[] }[];
    };
    const [rule] = rules;
    const config = loadConfig(environmentOf(rendered, rendered.workload("fedway-web")));
    expect(config.publicUrl).toBe(`https://${rule?.host}`);
    expect(tls[0]?.hosts).toEqual([rule?.host]);
    expect(rule?.http.paths.map(({ backend }) => backend.service.name)).toEqual(["fedway"]);
    expect(config.trustProxy).toBe(1);
    const { annotations = {} } = rendered.get("Ingress", "fedway").metadata;
    expect(annotations["nginx.ingress.kubernetes.io/proxy-buffering"]).toBe("off");
    const readTimeout = Number(annotations["nginx.ingress.kubernetes.io/proxy-read-timeout"]);
    expect(readTimeout * 1000).toBeGreaterThan(config.limits.timeoutMs);
  });
});
