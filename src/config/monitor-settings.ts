import { flag, folders, integer, percent, secretText, type SettingTree, webhookUrls } from "./setting-parsers.ts";

const dayMs = 24 * 3_600_000;

/** The part of the settings that is about monitoring. */
export const monitorSettings = {
  enabled: { name: "FEDWAY_MONITOR", default: "on", meaning: "Probe the endpoints of the catalogue.", ...flag },
  everyMs: {
    name: "FEDWAY_PROBE_EVERY_MS",
    default: "900000",
    meaning: "Time between two probes of an endpoint, in milliseconds.",
    ...integer(1000, dayMs),
  },
  jitter: {
    name: "FEDWAY_PROBE_JITTER",
    default: "10",
    meaning: "How far a probe may be from its turn, in percent of the time between two.",
    ...percent(0, 50),
  },
  incidentAfter: {
    name: "FEDWAY_INCIDENT_AFTER",
    default: "3",
    meaning: "Failed probes in a row after which an endpoint counts as down.",
    ...integer(1, 100),
  },
  recoveredAfter: {
    name: "FEDWAY_RECOVERED_AFTER",
    default: "2",
    meaning: "Good probes in a row after which it counts as up again.",
    ...integer(1, 100),
  },
  slowMs: {
    name: "FEDWAY_SLOW_MS",
    default: "10000",
    meaning: "Time of half of the good probes, in milliseconds, from which an endpoint is always degraded.",
    ...integer(1, dayMs),
  },
  slowFactor: {
    name: "FEDWAY_SLOW_FACTOR",
    default: "3",
    meaning: "How many times the time of its usual slowest hours an endpoint takes when it is degraded.",
    ...integer(2, 1000),
  },
  certificateDays: {
    name: "FEDWAY_CERTIFICATE_DAYS",
    default: "14",
    meaning: "Days before the end of an endpoint's certificate at which an incident opens; 0: never.",
    ...integer(0, 365),
  },
  webhooks: {
    name: "FEDWAY_WEBHOOKS",
    default: "",
    meaning: "URLs, separated by commas, that are notified when an incident opens or closes.",
    ...webhookUrls,
  },
  groupMs: {
    name: "FEDWAY_WEBHOOK_GROUP_MS",
    default: "30000",
    meaning: "Incidents that open or close within this time are one message, in milliseconds; 0: each its own.",
    ...integer(0, 3_600_000),
  },
  webhookSecret: {
    name: "FEDWAY_WEBHOOK_SECRET",
    default: "",
    meaning: "Secret that signs those messages (Standard Webhooks); needed with FEDWAY_WEBHOOKS.",
    ...secretText,
  },
  watch: {
    name: "FEDWAY_WATCH",
    default: "",
    meaning:
      "Folders of queries (.rq files, SHACL examples in Turtle), separated by commas, that are run on a schedule and compared.",
    ...folders,
  },
} satisfies SettingTree;
