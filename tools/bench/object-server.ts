// The process that tools/bench/objects.ts watches: the embedded store and, on request, a small durable commit every 10 ms.
import { join } from 'node:path';
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import Sqlite from 'better-sqlite3';
import { createMetrics } from '../../src/metrics.ts';
import { createEmbeddedStore } from '../../src/platform/objects/embedded-store.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createLog, readableLines } from '../../src/runtime/log.ts';

/** Milliseconds. The delay of the event loop is measured with a timer of 1 ms, which is included. */
export interface Watched {
  p50: number;
  p99: number;
  max: number;
  commitP50: number;
  commitP99: number;
}

const folder = process.argv[2] ?? '';
const store = createEmbeddedStore({
  folder,
  region: 'us-east-1',
  bucket: 'lapel',
  clock: systemClock,
  log: createLog({ level: 'warn', destination: await readableLines() }),
  metrics: createMetrics(),
});
const { port } = await store.listen('127.0.0.1', 0);
const database = new Sqlite(join(folder, 'commits.db'));
database.pragma('journal_mode = wal');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE commits (id INTEGER PRIMARY KEY, text TEXT)');
const insert = database.prepare('INSERT INTO commits (text) VALUES (?)');

const loop = monitorEventLoopDelay({ resolution: 1 });
let committing = createHistogram();
let timer: NodeJS.Timeout | undefined;
const ms = (nanoseconds: number): number => Number((nanoseconds / 1e6).toFixed(2));

process.on('message', ({ watch, commits }: { watch: boolean; commits?: boolean }) => {
  if (watch) {
    committing = createHistogram();
    loop.reset();
    loop.enable();
    if (!commits) return;
    timer = setInterval(() => {
      const startedAt = process.hrtime.bigint();
      insert.run('x'.repeat(500));
      committing.record(process.hrtime.bigint() - startedAt);
    }, 10);
    return;
  }
  clearInterval(timer);
  loop.disable();
  const commit = (percentile: number): number => (committing.count === 0 ? 0 : ms(committing.percentile(percentile)));
  const watched: Watched = {
    p50: ms(loop.percentile(50)),
    p99: ms(loop.percentile(99)),
    max: ms(loop.max),
    commitP50: commit(50),
    commitP99: commit(99),
  };
  process.send?.(watched);
});
process.once('disconnect', () => {
  void store.drain().then(() => process.exit(0));
});
process.send?.({ endpoint: `http://127.0.0.1:${port}`, credentials: store.credentials });
