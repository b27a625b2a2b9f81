import { fdatasyncSync } from 'node:fs';

/** What a service and its thread for the disk share. */
export interface ForSync {
  /** The file of the write-ahead log. */
  descriptor: number;
  memory: Int32Array<SharedArrayBuffer>;
}

// Places in the memory: the number of the last request, that of the last one done, the error of that, and whether the thread
// runs (1).
export const ASKED = 0;
export const DONE = 1;
export const ERRNO = 2;
export const RUNS = 3;
export const PLACES = 4;

/** Waits until the disk has the contents of a file. Returns the number of its error, which is negative; 0: none. */
export function errnoOfSync(descriptor: number): number {
  try {
    fdatasyncSync(descriptor);
    return 0;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).errno ?? -1;
  }
}
