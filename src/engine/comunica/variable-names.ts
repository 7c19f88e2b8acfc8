/**
 * Comunica keeps variables in objects, which have names of their own: `?constructor` would be found where it is not, and
 * `?__proto__` overwrites what all objects share, for every later query of the process. Such variables have other names
 * inside. A prefix more each time keeps all names apart.
 */
const prefix = "fedway_";
const taken = `(?:${prefix})*(?:${Object.getOwnPropertyNames(Object.prototype).join("|")})`;
const isTaken = new RegExp(`^${taken}$`);
const isInner = new RegExp(`^${prefix}${taken}$`);

/** The name of a query's variable inside Comunica. */
export const innerName = (name: string): string => (isTaken.test(name) ? prefix + name : name);

/** The query's name of a variable inside Comunica. */
export const outerName = (name: string): string => (isInner.test(name) ? name.slice(prefix.length) : name);
