/**
 * Inline data is kept in objects, which have names of their own: `?constructor` would be found where it is not, and
 * `?__proto__` overwrites what all objects share, for every later query of the process. Such variables have other names
 * inside. So have those that could be taken for variables that the parser or the engine makes.
 */
export const innerPrefix = "fedway_";
const taken = `(?:${Object.getOwnPropertyNames(Object.prototype).join("|")}|var\\d+|${innerPrefix}.*)`;
const isTaken = new RegExp(`^${taken}$`);
const isInner = new RegExp(`^${innerPrefix}${taken}$`);

/** The name of a query's variable in the algebra. */
export const innerName = (name: string): string => (isTaken.test(name) ? innerPrefix + name : name);

/** The query's name of a variable in the algebra. */
export const outerName = (name: string): string => (isInner.test(name) ? name.slice(innerPrefix.length) : name);

/** True for a variable that the query names; the parser makes others for blank nodes and paths. */
export const isVisible = (name: string): boolean => isInner.test(name) || !isTaken.test(name);
