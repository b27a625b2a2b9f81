import { existsSync } from 'node:fs';
import { Unfit } from './unfit-server.ts';

const MODES = ['disable', 'require', 'verify-ca', 'verify-full'];

/**
 * The URL of a connection with which `sslmode` means what it means to libpq and all programs on it (PostgreSQL, "SSL
 * Support", table 34.1): `require` encrypts and verifies only with `sslrootcert`, `verify-ca` verifies the CA, `verify-full`
 * the name too. `pg` reads all of them as `verify-full` without `uselibpqcompat`. `allow` and `prefer` would go on without
 * TLS where somebody takes it away, so they are refused. Throws Unfit.
 */
export function withLibpqModes(url: string): string {
  const [, query = ''] = url.split('?', 2);
  const options = new URLSearchParams(query);
  const [mode, root] = [options.get('sslmode'), options.get('sslrootcert')];
  if (root === 'system') {
    // The CAs that everybody knows, with which libpq permits only this mode. To `pg` it would be the name of a file.
    if (mode !== null && mode !== 'verify-full') throw new Unfit('sslrootcert=system needs sslmode=verify-full');
    options.delete('sslrootcert');
    options.set('sslmode', 'verify-full');
    return `${url.slice(0, url.indexOf('?'))}?${options.toString()}`;
  }
  if (root !== null && !existsSync(root))
    throw new Unfit(`sslrootcert=${root} cannot be read: it must name the file of a CA`);
  if (mode === null) return url;
  if (!MODES.includes(mode)) {
    const others = 'disable, require (encrypts), verify-ca, or verify-full';
    throw new Unfit(`sslmode=${mode} is not supported: write ${others}`);
  }
  if (mode === 'verify-ca' && root === null)
    throw new Unfit('sslmode=verify-ca needs sslrootcert=FILE with the CA of the server; or write verify-full');
  // To `pg`, `verify-full` has the same meaning either way.
  return mode === 'verify-full' || options.has('uselibpqcompat') ? url : `${url}&uselibpqcompat=true`;
}
