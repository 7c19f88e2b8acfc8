/** Capabilities of endpoints, found by probes and by queries. */
export {
  type Capabilities,
  capabilitiesSchema,
  createCapabilityStore,
  type EndpointView,
  type ProbedConstruct,
  probedConstructs,
  type ProbeOutcome,
} from "./capabilities/capabilities.ts";
export { CapabilityService, type Found, type NotedEndpoint } from "./capabilities/capability-service.ts";
export { documentCanary, hasSearchForm } from "./capabilities/document-canary.ts";
export { probeCapabilities } from "./capabilities/prober.ts";
export { canary, constructProbes, plainCanary, type Probe, valuesTable } from "./capabilities/probes.ts";
