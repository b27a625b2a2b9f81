import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import type { Config } from '../../config.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { listenAt } from '../../runtime/listening.ts';
import type { Log } from '../../runtime/log.ts';
import type { Vault } from '../encryption/vault.ts';
import type { Entrance } from '../entrance/web-server.ts';
import { createEmbeddedStore } from './embedded-store.ts';
import { createObjectStore } from './object-store.ts';
import { createStoreKey } from './store-key.ts';

interface Parts {
  config: Pick<Config, 'dataDir' | 'objects'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  /** The owner of the object under a key; owners share the transfers fairly. */
  ownerOf(key: string): Promise<string>;
  /** When the distribution of an object to devices began, in microseconds; null when it is not distributed. */
  distributedSince(key: string): Promise<number | null>;
  /** Whether the owner's quota allows an upload of this many bytes. */
  admits(key: string, bytes: number): Promise<boolean>;
  /** URLs of the pages that may upload to the embedded store. */
  pages(): readonly string[];
  /** Encrypts the key of the embedded store. */
  vault?: Vault;
  /** TLS and the PROXY protocol in front of the embedded store. */
  entrance?: Entrance;
}

/**
 * Opens the object store that the settings name: an S3-compatible one, or else the embedded one, which listens when this
 * returns. Throws SETTING_INVALID.
 */
export async function openObjects({ config, ownerOf, distributedSince, admits, pages, vault, ...given }: Parts) {
  const { entrance, ...parts } = given;
  const { endpoint, region, bucket, host, port, publicUrl, maxConnections } = config.objects;
  await using stack = new AsyncDisposableStack();

  async function startEmbedded() {
    const limits = { connections: maxConnections };
    const about = { ownerOf, distributedSince, admits, pages, entrance };
    const key = createStoreKey({ ...parts, vault, folder: config.dataDir });
    key.seal();
    const own = { ...about, credentials: key, folder: config.dataDir, region, bucket, limits };
    const made = createEmbeddedStore({ ...parts, ...own });
    const store = stack.use(made);
    const listen = async (...at: [string, number]): Promise<number> => (await store.listen(...at)).port;
    const url = await listenAt(
      { setting: 'LAPEL_OBJECTS_PORT', scheme: entrance?.secured ? 'https' : 'http', host, port },
      listen,
    );
    return { store, key, url, ownUrl: `http://127.0.0.1:${(await store.listenOwn()).port}` };
  }

  const embedded = endpoint === null ? await startEmbedded() : undefined;
  const url = embedded?.url ?? endpoint ?? '';
  const store = stack.use(
    createObjectStore({
      endpoint: embedded?.ownUrl ?? url,
      publicEndpoint: publicUrl ?? url,
      region,
      bucket,
      ...(embedded && { credentials: embedded.key.current, etagsAreSha256: true, listing: embedded.store.list }),
      clock: parts.clock,
      // Both ends of these connections are in this process: a connection that is slow to open only shows that the process is
      // busy.
      ...(embedded && { limits: { connectMs: 0 } }),
    }),
  );
  const everything = stack.move();
  return {
    store,
    /** The URL of the store. */
    url,
    /** The key of the embedded store; undefined when the store is another one. */
    key: embedded?.key,
    /** Bytes that are stored; undefined when the store is not the embedded one. */
    usage: async () => embedded?.store.usage(),
    idle: async (): Promise<void> => embedded?.store.idle(),
    /** Begins to end the transfers of clients. The service itself still reaches its objects. */
    drainClients: (): void => void embedded?.store.drainClients(),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}
