import { onTestFinished } from "vitest";
import { damagedDocuments } from "../../src/store/collection.ts";

/** What collections tell of documents that they cannot read, from now to the end of the test. */
export function heardDamage(): readonly unknown[] {
  const heard: unknown[] = [];
  const listen = (message: unknown): void => void heard.push(message);
  damagedDocuments.subscribe(listen);
  onTestFinished(() => {
    damagedDocuments.unsubscribe(listen);
  });
  return heard;
}
