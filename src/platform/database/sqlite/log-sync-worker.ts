// The thread behind `createLogSync`: it waits for the disk.
import { workerData } from 'node:worker_threads';
import { ASKED, DONE, ERRNO, errnoOfSync, type ForSync, RUNS } from './log-sync-memory.ts';

const { descriptor, memory } = workerData as ForSync;
Atomics.store(memory, RUNS, 1);
for (let seen = 0; ; ) {
  Atomics.wait(memory, ASKED, seen);
  seen = Atomics.load(memory, ASKED);
  Atomics.store(memory, ERRNO, errnoOfSync(descriptor));
  Atomics.store(memory, DONE, seen);
  Atomics.notify(memory, DONE);
}
