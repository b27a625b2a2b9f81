import type { Config } from '../src/config.ts';
import { createObjectStore } from '../src/platform/objects/object-store.ts';
import { embeddedCredentials } from '../src/platform/objects/store-key.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { randomIds } from '../src/runtime/ids.ts';

/** A file that a camera has asked an upload URL for. */
export interface WantedFile {
  name: string;
  /** Bytes. */
  size: number;
  contentType: string;
}

const VALID_SECONDS = 300;

/**
 * Where the customer keeps recordings and files: any S3-compatible store would do; here it is the embedded one, under
 * keys of the customer's own. The customer's backend presigns the uploads.
 */
export function createCustomerStore({ config, endpoint }: { config: Config; endpoint: string }) {
  const { region, bucket } = config.objects;
  const credentials = embeddedCredentials(config.dataDir, randomIds);
  const store = createObjectStore({ endpoint, region, bucket, credentials, clock: systemClock });
  const keyOf = (name: string): string => `customer/${name}`;

  return {
    /** What the service wants of fileUploadGetUrl, and for each file of callRecGetMultiPresignedUrl. */
    async presign({ name, size, contentType }: WantedFile) {
      const options = { contentLength: size, contentType, expiresIn: VALID_SECONDS };
      const { url, endTimestamp } = await store.uploadUrl(keyOf(name), options);
      const expiresAt = new Date(endTimestamp * 1000).toISOString();
      return { name, uploadUrl: url, method: 'PUT', headers: { 'content-type': contentType }, expiresAt };
    },
    /** What is there under a name; undefined when nothing is. */
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
