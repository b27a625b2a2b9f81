import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectSecured } from 'node:tls';
import type { Clock } from '../../../runtime/clock.ts';

/** Milliseconds that a receiver may take for a connection and its end. */
export const RECEIVER_TIMEOUT_MS = 10_000;
/**
 * Milliseconds between the last byte and the end of a connection. A receiver that dies before it has read all ends the
 * connection first, or resets it.
 */
export const LINGER_MS = 1_000;

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** LAPEL_AUDIT_SYSLOG: `tls://`, `tcp://` or `udp://` with host and port. */
  target: URL;
  /** The file of the CA of the receiver; null: those of the system. */
  caFile: string | null;
}

/** A message with its length before it (RFC 6587 3.4.1, RFC 5425 4.3). */
const counted = (message: string): string => `${Buffer.byteLength(message)} ${message}`;

/**
 * Sends syslog messages to a receiver: over TLS (RFC 5425), TCP (RFC 6587, octet counting) or UDP (RFC 5426). Syslog has
 * no acknowledgements. So each batch has a connection of its own, which this side ends after a pause: only a receiver
 * that has read everything then ends it as well. Anything else counts as a failure, and the batch is sent again.
 */
export function createSyslogLine({ clock, target, caFile }: Parts) {
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port);
  const isSecured = target.protocol === 'tls:';
  let abort = (): void => undefined;

  const open = (): Socket =>
    isSecured
      ? connectSecured({
          host,
          port,
          ...(isIP(host) === 0 && { servername: host }),
          ...(caFile !== null && { ca: readFileSync(caFile) }),
        })
      : connectPlain({ host, port });

  function overStream(messages: readonly string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = open();
    let isEnding = false;
    let cancel = clock.after(RECEIVER_TIMEOUT_MS, () => fail(new Error('the receiver is too slow')));
    function fail(error: Error): void {
      reject(error);
      socket.destroy();
    }
    abort = () => fail(new Error('the service stops'));
    socket.on('error', fail);
    socket.on('close', () => {
      cancel();
      reject(new Error('the receiver has ended the connection'));
    });
    socket.on('end', () => {
      if (isEnding) resolve();
      else fail(new Error('the receiver has ended the connection'));
    });
    socket.resume();
    socket.once(isSecured ? 'secureConnect' : 'connect', () => {
      socket.write(messages.map(counted).join(''), () => {
        cancel();
        cancel = clock.after(LINGER_MS, () => {
          isEnding = true;
          cancel = clock.after(RECEIVER_TIMEOUT_MS, () => fail(new Error('the receiver does not end the connection')));
          socket.end();
        });
      });
    });
    return promise.finally(() => socket.destroy());
  }

  function overDatagrams(messages: readonly string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
    const cancel = clock.after(RECEIVER_TIMEOUT_MS, () => reject(new Error('the receiver is not found')));
    let cancelPause = (): void => undefined;
    abort = () => reject(new Error('the service stops'));
    socket.on('error', reject);
    socket.connect(port, host, () => {
      const sent = messages.map((message) => {
        const one = Promise.withResolvers<void>();
        socket.send(message, (error) => (error ? one.reject(error) : one.resolve()));
        return one.promise;
      });
      // A machine without a receiver says so a moment later.
      Promise.all(sent).then(() => {
        cancelPause = clock.after(LINGER_MS, resolve);
      }, reject);
    });
    return promise.finally(() => {
      cancel();
      cancelPause();
      socket.close();
    });
  }

  return {
    /** Resolves when the receiver has taken all messages; over UDP, when they were sent. */
    send: target.protocol === 'udp:' ? overDatagrams : overStream,
    /** Ends the present connection. */
    abort: (): void => abort(),
  };
}
