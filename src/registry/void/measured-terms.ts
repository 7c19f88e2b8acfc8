const namespace = "https://w3id.org/fedway/ns#";

/** Fedway's own terms for how a description was found out; described in this folder's README. */
export const measured = {
  at: `${namespace}at`,
  bytes: `${namespace}bytes`,
  classesComplete: `${namespace}classesComplete`,
  durationMs: `${namespace}durationMs`,
  factStatus: `${namespace}factStatus`,
  describedGraph: `${namespace}describedGraph`,
  graphsComplete: `${namespace}graphsComplete`,
  httpStatus: `${namespace}httpStatus`,
  objectsComplete: `${namespace}objectsComplete`,
  outcome: `${namespace}outcome`,
  position: `${namespace}position`,
  propertiesComplete: `${namespace}propertiesComplete`,
  query: `${namespace}query`,
  requests: `${namespace}requests`,
  rung: `${namespace}rung`,
  source: `${namespace}source`,
  unfinished: `${namespace}unfinished`,
  unknown: `${namespace}unknown`,
  what: `${namespace}what`,
  why: `${namespace}why`,
} as const;
