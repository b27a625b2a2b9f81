import type { Config } from '../../src/config.ts';
import { createObjectStore } from '../../src/platform/objects/object-store.ts';
import { createStoreKey } from '../../src/platform/objects/store-key.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { randomIds } from '../../src/runtime/ids.ts';

/** A file for which a camera has asked for an upload URL. */
export interface WantedFile {
  name: string;
  /** Bytes. */
  size: number;
  contentType: string;
}

const VALID_SECONDS = 300;

/**
 * The customer's store for recordings and files; the customer's backend presigns the uploads. Any S3-compatible store
 * would do. The demo uses the embedded store of the service, under keys that begin with `customer/`.
 */
export function createCustomerStore({ config, endpoint }: { config: Config; endpoint: string }) {
  const { region, bucket } = config.objects;
  const { current } = createStoreKey({ folder: config.dataDir, ids: randomIds, clock: systemClock });
  const store = createObjectStore({ endpoint, region, bucket, credentials: current, clock: systemClock });
  const keyOf = (name: string): string => `customer/${name}`;

  return {
    /** The answer to a fileUploadGetUrl webhook, and, for each file, to a callRecGetMultiPresignedUrl webhook. */
    async presign({ name, size, contentType }: WantedFile) {
      const options = { contentLength: size, contentType, expiresIn: VALID_SECONDS };
      const { url, endTimestamp } = await store.uploadUrl(keyOf(name), options);
      const expiresAt = new Date(endTimestamp * 1000).toISOString();
      return { name, uploadUrl: url, method: 'PUT', headers: { 'content-type': contentType }, expiresAt };
    },
    /** The content of a file; undefined when it does not exist. */
    async read(name: string): Promise<Buffer | undefined> {
      const { url } = await store.downloadUrl(keyOf(name), { expiresIn: VALID_SECONDS });
      const response = await fetch(url);
      const content = Buffer.from(await response.arrayBuffer());
      return response.ok ? content : undefined;
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

export type CustomerStore = ReturnType<typeof createCustomerStore>;
