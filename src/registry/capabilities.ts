/** Capabilities of endpoints, found by probes and by queries. */
export { type Capabilities, capabilitiesSchema, probedConstructs } from "./capabilities/capabilities.ts";
export { CapabilityService } from "./capabilities/capability-service.ts";
export { hasSearchForm } from "./capabilities/prober.ts";
export { canaryFor, deviationsIn } from "./capabilities/probes.ts";
