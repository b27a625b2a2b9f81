import type { Config } from '../../config.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { listenAt } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import { createEmbeddedStore } from './embedded-store.ts';
import { createObjectStore } from './object-store.ts';

interface Parts {
  config: Pick<Config, 'dataDir' | 'objects'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** Whose the object under a key is: transfers are shared out among owners. */
  ownerOf(key: string): Promise<string>;
  /** Since when devices get it (microseconds); null when they do not. */
  distributedSince(key: string): Promise<number | null>;
  /** Whether an upload of so many bytes may come: its owner has a quota. */
  admits(key: string, bytes: number): Promise<boolean>;
  /** URLs of the pages that may upload to the embedded store. */
  pages(): readonly string[];
}

/**
 * The object store that the settings name: any S3-compatible one, or else the embedded one, which listens from here on.
 * Throws SETTING_INVALID.
 */
export async function openObjects({ config, ownerOf, distributedSince, admits, pages, ...parts }: Parts) {
  const { endpoint, region, bucket, host, port, publicUrl, maxConnections } = config.objects;
  await using stack = new AsyncDisposableStack();

  async function startEmbedded() {
    const limits = { connections: maxConnections };
    const about = { ownerOf, distributedSince, admits, pages };
    const made = createEmbeddedStore({ ...parts, ...about, folder: config.dataDir, region, bucket, limits });
    const store = stack.use(made);
    const listen = async (...at: [string, number]): Promise<number> => (await store.listen(...at)).port;
    const url = await listenAt({ setting: 'LAPEL_OBJECTS_PORT', host, port }, listen);
    return { store, url, ownUrl: `http://127.0.0.1:${(await store.listenOwn()).port}` };
  }

  const embedded = endpoint === null ? await startEmbedded() : undefined;
  const url = embedded?.url ?? endpoint ?? '';
  const store = stack.use(
    createObjectStore({
      endpoint: embedded?.ownUrl ?? url,
      publicEndpoint: publicUrl ?? url,
      region,
      bucket,
      ...(embedded && { credentials: embedded.store.credentials, etagsAreSha256: true, listing: embedded.store.list }),
      clock: parts.clock,
      // Its connections are this process's own on both sides: one that is not there yet says only how busy it is.
      ...(embedded && { limits: { connectMs: 0 } }),
    }),
  );
  const everything = stack.move();
  return {
    store,
    /** Where the store is reached. */
    url,
    /** Bytes stored and free; undefined of a store that is not ours. */
    usage: async () => embedded?.store.usage(),
    idle: async (): Promise<void> => embedded?.store.idle(),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}
