const mib = 1024 * 1024;

/**
 * Size options of a cache: bytes of a value beside its key, and bytes for each character of the key. Not `max`:
 * a key from a query or a document may have a megabyte, and `max` allocates all its places at once.
 */
export const sizedByKey = (maxMib: number, { each = 250, perCharacter = 2 } = {}) => ({
  maxSize: maxMib * mib,
  sizeCalculation: (_value: unknown, key: string): number => each + perCharacter * key.length,
});
