/** Side by side. */
const atOnce = 32;

/** Applies `work` to all items, some at a time, and gives what came of it in their order. */
export async function forAll<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const batch = items.slice(from, from + atOnce);
    results.push(...(await Promise.all(batch.map((item, index) => work(item, from + index)))));
  }
  return results;
}
