import { readFileSync } from 'node:fs';
import { hostsOf } from './database-hosts.ts';

/** A URL without user and password, wherever they stand in it. */
function withoutLogin(url: string): string {
  const [place = '', query = ''] = url.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').split('?', 2);
  const options = query.split('&').filter((option) => !/^(user|password)=/.test(option));
  return [place, ...options].join('&');
}

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
      if (hostsOf(read) && withoutLogin(read) === withoutLogin(url)) current = read;
    } catch {
      // It is being replaced, or the next connection fails and is tried again.
    }
    return current;
  };
}
