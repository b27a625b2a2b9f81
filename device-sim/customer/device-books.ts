import type { Note } from './story.ts';

const NOTES_KEPT = 6;

interface DeviceBook {
  /** Transactions without a result. */
  open: number[];
  /** The highest transactionId that the device has received. */
  highest: number;
  /** The number of its connections. */
  connections: number;
  notes: Note[];
}

/** Books about each device. */
export interface DeviceBooks {
  book(deviceId: string): DeviceBook;
  /** Undefined if nothing is known of the device. */
  known(deviceId: string): Readonly<DeviceBook> | undefined;
  /** Adds a line to the story of the device; the latest ones are kept. */
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
