import { createRequire } from 'node:module';

/**
 * Loads a package when it is first needed, so that a start is quick. `import()` remembers a failure (the process cannot
 * open another file) for the life of the process; this tries again at the next call.
 */
export const loadLate = createRequire(import.meta.url);
