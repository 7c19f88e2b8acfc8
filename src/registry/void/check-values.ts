/** Checks one value; says what is wrong with it, undefined when nothing is. */
export type Check = (value: unknown) => string | undefined;

/** A non-empty text of at most so many UTF-16 code units. */
export const limited =
  (most: number): Check =>
  (value) => {
    if (typeof value !== "string" || value === "") return "is no text";
    return value.length <= most ? undefined : "is too long";
  };

/** A finite number from 0 on. */
export const quantity: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? undefined : "is no quantity";

export const flag: Check = (value) => (typeof value === "boolean" ? undefined : "is neither true nor false");

/** An ISO 8601 moment. */
export const instant: Check = (value) =>
  typeof value === "string" && value.length <= 40 && !Number.isNaN(Date.parse(value)) ? undefined : "is no moment";

/** One of the given values. */
export const either =
  (...values: readonly (string | number)[]): Check =>
  (value) =>
    values.some((one) => one === value) ? undefined : `is none of ${values.join(", ")}`;

/** May be absent. */
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);

/** A list of at most so many items. */
export const checkList =
  (item: Check, most: number): Check =>
  (value) => {
    if (!Array.isArray(value)) return "is no list";
    if (value.length > most) return "has too many items";
    for (const [at, one] of value.entries()) {
      const reason = item(one);
      if (reason !== undefined) return `[${at}] ${reason}`;
    }
    return undefined;
  };

/** An object with these members and no others. */
export const checkObject =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no object";
    const values = new Map<string, unknown>(Object.entries(value));
    for (const name of values.keys()) {
      if (!Object.hasOwn(members, name)) return `has the unknown member "${name.slice(0, 40)}"`;
    }
    for (const [name, check] of Object.entries(members)) {
      const reason = check(values.get(name));
      if (reason !== undefined) return reason.startsWith("[") ? `${name}${reason}` : `${name} ${reason}`;
    }
    return undefined;
  };
