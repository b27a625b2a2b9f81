// The thread behind `createLogThread`. Its connection opens with the first request that needs it, and waits for no lock.
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { ASKED, carryOut, DONE, REQUEST, REQUESTS, RESULT, RUNS, type Shared, WAITS } from './log-requests.ts';

const { file, descriptor, memory } = workerData as Shared;
let opened: Sqlite.Database | undefined;
const connection = (): Sqlite.Database => (opened ??= new Sqlite(file, { timeout: 0 }));

Atomics.store(memory, RUNS, WAITS);
Atomics.notify(memory, RUNS);
for (let seen = 0; ; ) {
  Atomics.wait(memory, ASKED, seen);
  if (Atomics.load(memory, ASKED) === seen) continue;
  seen = Atomics.load(memory, ASKED);
  const request = REQUESTS[Atomics.load(memory, REQUEST)];
  if (request === undefined || request === 'end') break;
  Atomics.store(memory, RESULT, carryOut(request, { descriptor, connection }));
  Atomics.store(memory, DONE, seen);
  Atomics.notify(memory, DONE);
}
opened?.close();
