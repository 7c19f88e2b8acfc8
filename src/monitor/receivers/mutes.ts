import { createHmac, timingSafeEqual } from "node:crypto";
import { Type } from "typebox";
import { createCollection } from "../../store/collection.ts";
import type { Store } from "../../store/store.ts";

/** Messages about an endpoint that a receiver does not want. */
interface Muted {
  /** Names the receiver without its URL. */
  readonly receiver: string;
  /** Id of the endpoint, or what stands for a host in its place. */
  readonly endpoint: string;
}

interface Mute extends Muted {
  readonly id: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Target of a message's link, with the signature of this service. */
interface UnsubscribeLink extends Muted {
  readonly signature: string;
}

interface MutesOptions {
  readonly store: Store;
  readonly secret: string | undefined;
  readonly publicUrl: string;
  readonly clock: { now(): number };
}

const schema = Type.Object({ receiver: Type.String(), endpoint: Type.String(), since: Type.String() });
const mostListed = 10_000;

const idOf = ({ receiver, endpoint }: Muted): string => `${receiver}.${endpoint}`;

/** Which receiver wants no messages of which endpoint; known by signed links that their messages carry. */
export function createMutes({ store, secret, publicUrl, clock }: MutesOptions) {
  const mutes = createCollection({
    store,
    prefix: "webhook/muted/",
    schema,
    lost: "Messages that a receiver muted are sent again.",
  });
  const key = secret === undefined ? undefined : createHmac("sha256", secret).update("unsubscribe").digest();
  const signatureOf = (link: Muted): string | undefined =>
    key && createHmac("sha256", key).update(idOf(link)).digest("base64url");
  const isSigned = (link: UnsubscribeLink): boolean => {
    const signature = signatureOf(link);
    if (signature === undefined) return false;
    const [expected, given] = [Buffer.from(signature), Buffer.from(link.signature)];
    return expected.length === given.length && timingSafeEqual(expected, given);
  };
  return {
    /** The address at which a receiver stops the messages of an endpoint; undefined without a secret. */
    link(receiver: string, endpoint: string): string | undefined {
      const signature = signatureOf({ receiver, endpoint });
      if (signature === undefined) return undefined;
      return `${publicUrl}/unsubscribe?${new URLSearchParams({ receiver, endpoint, signature }).toString()}`;
    },
    isSigned,
    isMuted: async (receiver: string, endpoint: string): Promise<boolean> =>
      (await mutes.get(idOf({ receiver, endpoint }))) !== undefined,
    /** False for a link that this service has not made. @throws FedwayError `STORE_FAILED` */
    async mute(link: UnsubscribeLink): Promise<boolean> {
      if (!isSigned(link)) return false;
      const { receiver, endpoint } = link;
      await mutes.put(idOf(link), { receiver, endpoint, since: new Date(clock.now()).toISOString() });
      return true;
    },
    async list(): Promise<readonly Mute[]> {
      const found: Mute[] = [];
      for await (const [id, mute] of mutes.entries()) {
        if (mute !== undefined) found.push({ id, ...mute });
        if (found.length >= mostListed) break;
      }
      return found;
    },
    /** False when there is none. @throws FedwayError `STORE_FAILED` */
    unmute: (id: string): Promise<boolean> => mutes.delete(id),
  };
}
