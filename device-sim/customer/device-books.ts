import type { Note } from './story.ts';

const NOTES_KEPT = 6;

interface DeviceBook {
  /** Transactions without a result. */
  open: number[];
  /** The highest transactionId that came. */
  highest: number;
  /** How many connections it has had. */
  connections: number;
  notes: Note[];
}

/** What is known of each device. */
export interface DeviceBooks {
  book(deviceId: string): DeviceBook;
  /** Undefined for one that nothing was heard of. */
  known(deviceId: string): Readonly<DeviceBook> | undefined;
  /** A line for its story; the last ones are kept. */
  note(deviceId: string, text: string, at: number): void;
}

export function createDeviceBooks(): DeviceBooks {
  const books = new Map<string, DeviceBook>();

  function book(deviceId: string): DeviceBook {
    const known = books.get(deviceId);
    if (known) return known;
    const made: DeviceBook = { open: [], highest: 0, connections: 0, notes: [] };
    books.set(deviceId, made);
    return made;
  }

  return {
    book,
    known: (deviceId) => books.get(deviceId),
    note(deviceId, text, at) {
      const { notes } = book(deviceId);
      notes.push({ at, text });
      if (notes.length > NOTES_KEPT) notes.shift();
    },
  };
}
