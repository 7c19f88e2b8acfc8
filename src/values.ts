// How code says that a value may be missing, or must not be.

/** Value of a JSON text; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The item at a place that the list must have, as when the index came from a list of the same length.
 * @throws RangeError that names the index: a default would hide the fault
 */
export function itemAt<Item>(list: ArrayLike<Item>, index: number): Item {
  const item = list[index];
  if (item !== undefined) return item;
  throw new RangeError(`there is no item ${index} among ${list.length}`);
}

/**
 * The value of a key that the map must have, as when a loop over the same keys filled it.
 * @throws RangeError that names the key
 */
export function valueFor<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value !== undefined) return value;
  throw new RangeError(`there is no value for ${String(key).slice(0, 200)}`);
}
