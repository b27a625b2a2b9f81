import { createRequire } from 'node:module';

const fs = createRequire(import.meta.url)('node:fs') as typeof import('node:fs');

type Told = (error: Error | null) => void;

/**
 * The library of SQLite keeps `fs.access` when it is loaded, and asks it before a copy of a database. The answer of the
 * machine would come between any two events, so this one comes at once. To be imported before that library.
 */
Object.assign(fs, {
  access(path: string, told: Told): void {
    let found: Error | null = null;
    try {
      fs.accessSync(path);
    } catch (error) {
      found = error as Error;
    }
    queueMicrotask(() => told(found));
  },
});
