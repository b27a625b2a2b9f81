import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { Test } from 'tap';
import { createMetrics } from '../../src/metrics.ts';
import { createEmbeddedStore, type EmbeddedStoreParts } from '../../src/platform/objects/embedded-store.ts';
import { createObjectStore, type ObjectStore } from '../../src/platform/objects/object-store.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { DEBIAN_PYTHON, missing } from '../installed.ts';

export interface RunningStore {
  endpoint: string;
  region: string;
  bucket: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  store: ObjectStore;
  /** The statuses with which this store refuses requests with a wrong signature. */
  refusals: number[];
  /** A client of the same store with another clock (milliseconds of difference), another secret, ... */
  as(other: { aheadMs?: number; secretAccessKey?: string; accessKeyId?: string; region?: string }): ObjectStore;
  /** Resolves when everything in progress is finished, if that can be known. */
  idle(): Promise<void>;
}

const shifted = (milliseconds: number): Clock => ({
  now: () => systemClock.now() + milliseconds * 1000,
  wall: () => systemClock.wall() + milliseconds * 1000,
  steady: systemClock.steady,
  after: (wait, task) => systemClock.after(wait, task),
});

type Address = Pick<RunningStore, 'endpoint' | 'region' | 'bucket' | 'credentials' | 'refusals'>;

function clients(
  t: Test,
  address: Address,
  idle: () => Promise<void>,
  own: { listing?: (prefix: string) => AsyncIterable<{ key: string; size: number; uploadedAt: number }[]> } = {},
): RunningStore {
  const as: RunningStore['as'] = ({ aheadMs = 0, region = address.region, ...credentials }) => {
    const store = createObjectStore({
      endpoint: address.endpoint,
      bucket: address.bucket,
      region,
      credentials: { ...address.credentials, ...credentials },
      clock: shifted(aheadMs),
      limits: { listed: 3 },
      ...own,
    });
    t.teardown(() => store[Symbol.asyncDispose]());
    return store;
  };
  return { ...address, as, store: as({}), idle };
}

export async function startEmbedded(t: Test, parts: Partial<EmbeddedStoreParts> = {}) {
  const folder = parts.folder ?? t.testdir();
  const metrics = createMetrics();
  const log = createLog({ level: 'silent' });
  const own = { region: 'us-east-1', bucket: 'lapel', clock: systemClock, log, metrics, ...parts, folder };
  const embedded = createEmbeddedStore(own);
  const { port } = await embedded.listen('127.0.0.1', 0);
  t.teardown(() => embedded.drain());
  const { credentials, idle } = embedded;
  const address = {
    endpoint: `http://127.0.0.1:${port}`,
    region: own.region,
    bucket: own.bucket,
    credentials,
    refusals: [403],
  };
  return { ...clients(t, address, idle, { listing: embedded.list }), embedded, metrics, folder, port };
}

/** Starts OpenStack Swift, or returns the reason why it cannot run here. */
export async function startSwift(t: Test): Promise<RunningStore | string> {
  const reason = missing.swift();
  if (reason) return reason;
  const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'a-secret-of-the-tests' };
  const script = join(import.meta.dirname, 'swift-server.py');
  const args = [script, t.testdir(), credentials.accessKeyId, credentials.secretAccessKey];
  const child = spawn(DEBIAN_PYTHON, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.teardown(() => {
    child.stdin.end(); // the process ends with its standard input
    return ended;
  });
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([new Promise<string>((resolve) => lines.once('line', resolve)), ended]);
  if (first === undefined) throw new Error('Swift ended before it was ready');
  const ready = JSON.parse(first) as { endpoint?: string; region?: string; unavailable?: string };
  if (!ready.endpoint || !ready.region) return `OpenStack Swift cannot run here: ${ready.unavailable}`;
  const { endpoint, region } = ready;
  const bucket = 'lapel';
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return clients(t, { endpoint, region, bucket, credentials, refusals: [400, 403, 501] }, async () => undefined);
}
