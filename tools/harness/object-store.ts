import { createMetrics } from '../../src/metrics.ts';
import { createEmbeddedStore } from '../../src/platform/objects/embedded-store.ts';
import type { StoreCredentials } from '../../src/platform/objects/request-signature.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';

const BUCKET = 'lapel';
const REGION = 'us-east-1';

/**
 * Starts an S3-compatible store that several nodes share: the embedded one, on its own. `env` holds the settings of a node
 * that uses it. The store gets the nodes' clock, because signatures contain the time. Without `given` it has credentials of
 * its own.
 */
export async function startObjectStore(folder: string, clock: Clock = systemClock, given?: StoreCredentials) {
  const store = createEmbeddedStore({
    folder,
    region: REGION,
    bucket: BUCKET,
    clock,
    log: createLog({ level: 'silent' }),
    metrics: createMetrics(),
    ...(given && { credentials: given }),
  });
  const { port } = await store.listen('127.0.0.1', 0);
  const { accessKeyId, secretAccessKey } = store.credentials;
  return {
    env: {
      LAPEL_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      LAPEL_S3_REGION: REGION,
      LAPEL_S3_BUCKET: BUCKET,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
