import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector, errors } from 'undici';
import { refusedAddress } from './address-guard.ts';

/** The target leads to where webhooks must not go. To which address an inside name leads is nobody's business outside. */
class AddressRefused extends Error {
  constructor() {
    super('the host leads to no public address');
    this.name = 'AddressRefused';
  }
}

const systemLookup: LookupFunction = (hostname, options, callback) => dns.lookup(hostname, options, callback);

/** A look-up that hands on an answer only when every address in it may be connected to. */
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
 * Makes undici's connections. The guard acts on what is really connected to: on a literal address in the URL, and on
 * the answer of the one look-up that the socket then uses, so a name that resolves to another address a moment
 * later (DNS rebinding) gains nothing. undici sets TCP_NODELAY itself.
 */
export function createConnector(options: { allowPrivate: boolean; timeoutMs: number; lookup?: LookupFunction }) {
  const { allowPrivate, timeoutMs, lookup = systemLookup } = options;
  const connect = buildConnector({
    allowH2: false, // one request per connection at a time: the bounds count requests
    timeout: timeoutMs,
    lookup: guardLookup(lookup, { allowPrivate }),
  });
  const guarded: typeof connect = (target, callback) => {
    const refused = isIP(target.hostname) > 0 && refusedAddress(target.hostname, { allowPrivate }) !== undefined;
    if (refused) return callback(new AddressRefused(), null);
    return connect(target, (cause, socket) => {
      if (!socket) return callback(cause as Error, null);
      // Before undici listens, which hands on this very error.
      socket.on('error', (error) => {
        if (socket.bytesRead > 0) ofKeptConnection.add(error);
      });
      return callback(null, socket);
    });
  };
  return guarded;
}

const ofKeptConnection = new WeakSet<Error>();

/**
 * Whether a connection on which answers had come before was closed by the other side: as often as not because it was idle,
 * in the very moment in which the next request went out on it (RFC 9112 9.3.1).
 */
export function keptConnectionEnded(cause: Error): boolean {
  if (cause instanceof errors.SocketError) return (cause.socket?.bytesRead ?? 0) > 0;
  return ofKeptConnection.has(cause);
}
