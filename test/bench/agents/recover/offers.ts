import { check, type Desk, explained, run, type Sent, type Answer } from "./scripted-agent.ts";

/** What offers of one kind came to: the answer that was meant, other rows, or none. */
interface OfferTally {
  right: number;
  wrong: number;
  empty: number;
  readonly harmful: string[];
}

export type OfferTallies = Map<string, OfferTally>;

/**
 * Follows each offer for a broken query alone: what the check suggests, what it offers, and what the answer's diagnosis
 * offers. Rows that are not the right ones do harm: they look like an answer.
 */
export async function followOffers(
  desk: Desk,
  {
    sent,
    isRight,
    tallies,
    name,
  }: { sent: Sent; isRight: (answer: Answer) => boolean; tallies: OfferTallies; name: string },
): Promise<void> {
  const { query, suggested, repairs } = await check(desk, sent);
  const answer = await run(desk, { ...sent, text: query });
  if (suggested !== null) await follow("suggested", "suggested", suggested);
  for (const repair of repairs) await mend("check", repair, query);
  if (answer.diagnosis === null) return;
  for (const repair of (await explained(desk, answer))?.repairs ?? []) await mend("run", repair, query);

  /** A count that was 0 and is 0 shows nothing new. */
  function isUnchanged({ rows }: Answer): boolean {
    return JSON.stringify(rows) === JSON.stringify(answer.rows);
  }

  async function mend(
    from: string,
    { kind, before, after, applied }: (typeof repairs)[number],
    text: string,
  ): Promise<void> {
    if (applied || before === "" || !text.includes(before)) return;
    await follow(
      from,
      kind,
      text.replaceAll(before, () => after),
    );
  }

  async function follow(from: string, kind: string, text: string): Promise<void> {
    const key = from === "suggested" ? from : `${from}: ${kind}`;
    const tally = tallies.get(key) ?? { right: 0, wrong: 0, empty: 0, harmful: [] };
    tallies.set(key, tally);
    const found = await run(desk, { ...sent, text });
    if (isRight(found)) tally.right++;
    else if (found.rows.length === 0 || isUnchanged(found)) tally.empty++;
    else {
      tally.wrong++;
      tally.harmful.push(`${key} ${name}\n  ${sent.text}\n  -> ${text}`);
    }
  }
}
