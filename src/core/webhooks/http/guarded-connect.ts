import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { refusedAddress } from './address-guard.ts';

/**
 * The target's address is refused. The message does not name it, since addresses of internal names must not become known
 * outside.
 */
class AddressRefused extends Error {
  constructor() {
    super('the host leads to no public address');
    this.name = 'AddressRefused';
  }
}

const systemLookup: LookupFunction = (hostname, options, callback) => dns.lookup(hostname, options, callback);

/** Wraps a look-up so that it fails if any address in its answer is refused. */
export function guardLookup(lookup: LookupFunction, { allowPrivate = false } = {}): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, options, (cause, address, family) => {
      const found = typeof address === 'string' ? [address] : (address ?? []).map((each) => each.address);
      for (const each of cause ? [] : found) {
        if (refusedAddress(each, { allowPrivate }) !== undefined) return callback(new AddressRefused(), '', 0);
      }
      return callback(cause, address, family);
    });
}

/**
 * Makes the connections to receivers. The guard checks the address that is really connected to: a literal address in the URL, or
 * the answer of the one look-up that the socket then uses. So a name that resolves to another address a moment later (DNS
 * rebinding) gains nothing. undici's connector sets TCP_NODELAY.
 */
export function createConnector(options: { allowPrivate: boolean; timeoutMs: number; lookup?: LookupFunction }) {
  const { allowPrivate, timeoutMs, lookup = systemLookup } = options;
  const connect = buildConnector({
    allowH2: false, // one request at a time per connection, because the bounds count requests
    timeout: timeoutMs,
    lookup: guardLookup(lookup, { allowPrivate }),
  });
  const guarded: typeof connect = (target, callback) => {
    const refused = isIP(target.hostname) > 0 && refusedAddress(target.hostname, { allowPrivate }) !== undefined;
    if (refused) return callback(new AddressRefused(), null);
    return connect(target, callback);
  };
  return guarded;
}
