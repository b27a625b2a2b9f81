import type { Socket } from 'node:net';
import { largestGroup } from '../../runtime/largest-group.ts';

/** The most bytes of incomplete WebSocket messages, of all connections. */
const MOST_BYTES = 128 * 1024 * 1024;

interface Partial {
  socket: Socket;
  /** The developer of the device; empty before its login. */
  owner: string;
  bytes: number;
}

interface Parts {
  /** The most bytes that a connection may send without the end of a message. */
  largest: number;
  /** Called when a connection was closed, because too many bytes of all wait for the end of a message. */
  onCut(): void;
}

export interface WatchedMessages {
  /** Call this when a message is whole. */
  whole(): void;
  /** Call this when the device of a developer has logged in. */
  belongsTo(owner: string): void;
}

/**
 * Bounds the memory of WebSocket messages that have begun: they stay in memory until they are whole, and each device may
 * begin one. When all together are too many, the developer who has the most loses the connection with the most.
 */
export function createPartialMessages({ largest, onCut }: Parts) {
  const partials = new Set<Partial>();
  let sum = 0;

  function forget(one: Partial): void {
    sum -= one.bytes;
    one.bytes = 0;
    partials.delete(one);
  }

  function cutLargest(): void {
    const bytesOf = ({ bytes }: Partial): number => bytes;
    const ofOwner = largestGroup(partials, ({ owner }) => owner, bytesOf);
    const [worst] = largestGroup(ofOwner, (one) => one, bytesOf);
    if (!worst) return;
    forget(worst);
    onCut();
    worst.socket.destroy();
  }

  /** Counts the bytes of a socket, also those of control frames: they hold the pieces in memory that they came with. */
  return function watch(socket: Socket): WatchedMessages {
    const one: Partial = { socket, owner: '', bytes: 0 };
    // Before the listener that reads the messages, so that a message which this chunk ends counts no more.
    socket.prependListener('data', (chunk: Buffer) => {
      if (socket.destroyed) return;
      one.bytes += chunk.length;
      sum += chunk.length;
      partials.add(one);
      if (one.bytes > largest) socket.destroy();
      else if (sum > MOST_BYTES) cutLargest();
    });
    socket.once('close', () => forget(one));
    return {
      whole: () => forget(one),
      belongsTo(owner) {
        one.owner = owner;
      },
    };
  };
}
