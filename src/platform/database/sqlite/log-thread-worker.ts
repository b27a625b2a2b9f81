// The thread behind `createLogThread`. Its connection opens with the first request that needs it, and waits for no lock.
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { ASKED, carryOut, DONE, REQUEST, REQUESTS, RESULT, type Request, RUNS, type Shared } from './log-requests.ts';

const { file, descriptor, memory } = workerData as Shared;
let opened: Sqlite.Database | undefined;
const connection = (): Sqlite.Database => (opened ??= new Sqlite(file, { timeout: 0 }));

Atomics.store(memory, RUNS, 1);
for (let seen = 0; ; ) {
  Atomics.wait(memory, ASKED, seen);
  seen = Atomics.load(memory, ASKED);
  const request = REQUESTS[Atomics.load(memory, REQUEST)] as Request;
  Atomics.store(memory, RESULT, carryOut(request, { descriptor, connection }));
  Atomics.store(memory, DONE, seen);
  Atomics.notify(memory, DONE);
}
