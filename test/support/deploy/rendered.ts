import { type KubernetesObject, renderKustomization } from "./deploy-checkers.ts";

/** A part of an object's `spec`, read by field name; the tests check what they find. */
type Fields = Readonly<Record<string, unknown>>;

interface ValueSource {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: true };
  };
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly ValueSource[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: Fields;
  readonly resources: { readonly requests: Fields; readonly limits: Fields };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly topologySpreadConstraints?: readonly {
    readonly topologyKey: string;
    readonly labelSelector: { readonly matchLabels: Labels };
  }[];
  readonly securityContext: Fields;
  readonly containers: readonly Container[];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: { readonly sizeLimit: string };
    readonly persistentVolumeClaim?: { readonly claimName: string };
  }[];
}

export type Labels = Readonly<Record<string, string>>;

/** A Deployment or StatefulSet. */
export interface Workload {
  readonly name: string;
  readonly kind: string;
  readonly replicas: number | undefined;
  readonly strategy: Fields | undefined;
  readonly selector: Labels;
  readonly labels: Labels;
  readonly pod: PodSpec;
  readonly container: Container;
}

/** What an overlay renders to. */
export interface Rendered {
  readonly objects: readonly KubernetesObject[];
  /** Objects of one kind. */
  ofKind(kind: string): readonly KubernetesObject[];
  /** The object of a kind with a name. @throws Error when there is none */
  get(kind: string, name: string): KubernetesObject;
  readonly workloads: readonly Workload[];
  /** The Deployment or StatefulSet with a name. @throws Error when there is none */
  workload(name: string): Workload;
}

function toWorkload({ kind, metadata, spec }: KubernetesObject): Workload {
  const { replicas, strategy, selector, template } = spec as {
    replicas?: number;
    strategy?: Fields;
    selector: { matchLabels: Labels };
    template: { metadata: { labels: Labels }; spec: PodSpec };
  };
  const [container, ...others] = template.spec.containers;
  if (!container || others.length > 0) throw new Error(`${metadata.name} has ${others.length + 1} containers`);
  return {
    name: metadata.name,
    kind,
    replicas,
    strategy,
    selector: selector.matchLabels,
    labels: template.metadata.labels,
    pod: template.spec,
    container,
  };
}

/** Renders an overlay of k8s/overlays. */
export function renderOverlay(name: string): Rendered {
  const objects = renderKustomization(`k8s/overlays/${name}`);
  const workloads = objects.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet").map(toWorkload);
  const found = <T>(value: T | undefined, what: string): T => {
    if (value === undefined) throw new Error(`${name} has no ${what}`);
    return value;
  };
  return {
    objects,
    ofKind: (kind) => objects.filter((object) => object.kind === kind),
    get: (kind, wanted) =>
      found(
        objects.find((object) => object.kind === kind && object.metadata.name === wanted),
        `${kind} ${wanted}`,
      ),
    workloads,
    workload: (wanted) =>
      found(
        workloads.find((workload) => workload.name === wanted),
        `workload ${wanted}`,
      ),
  };
}

/** Whether a selector chooses what has these labels. */
export const selects = (selector: Labels, labels: Labels): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
