import { readFileSync } from 'node:fs';
import { hostsOf, placeOf } from './database-hosts.ts';

/**
 * Returns a function that tells the URL of the database for the next connection. When the URL is from a file, user and
 * password are read from it each time, so that a password is changed without a restart. Hosts, name and options stay those
 * of the start: another database needs a restart. A file that cannot be read, or has something else, changes nothing.
 */
export function currentDatabaseUrl(url: string, file: string | null): () => string {
  if (file === null) return () => url;
  let current = url;
  return () => {
    try {
      const read = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      if (hostsOf(read) && placeOf(read) === placeOf(url)) current = read;
    } catch {
      // It is being replaced, or the next connection fails and is tried again.
    }
    return current;
  };
}
