import type { Note } from './story.ts';

const NOTES_KEPT = 6;

interface DeviceBook {
  /** The ids of the device's transactions that have no result yet. */
  open: number[];
  /** The highest transactionId that the device has received. */
  highest: number;
  /** How often the device has connected in this run. */
  connections: number;
  /** The beginning of its present or last connection. */
  connectedAt: number;
  /** The time of the last result that says that one of its commands was stopped; 0 if there was none. */
  stoppedAt: number;
  /** Whether the customer has asked for a command that may supersede others. */
  superseding: boolean;
  notes: Note[];
}

/** The records that the customer keeps about each device. */
export interface DeviceBooks {
  book(deviceId: string): DeviceBook;
  /** The record of a device; undefined if nothing was recorded about it. */
  known(deviceId: string): Readonly<DeviceBook> | undefined;
  /** Forgets the order of the commands, because the service was restored from a backup. */
  setBack(): void;
  /** Adds a line to the events of a device that the report prints beside a fault. Only the last six lines are kept. */
  note(deviceId: string, text: string, at: number): void;
}

export function createDeviceBooks(): DeviceBooks {
  const books = new Map<string, DeviceBook>();

  function book(deviceId: string): DeviceBook {
    const known = books.get(deviceId);
    if (known) return known;
    const made: DeviceBook = {
      open: [],
      highest: 0,
      connections: 0,
      connectedAt: 0,
      stoppedAt: 0,
      superseding: false,
      notes: [],
    };
    books.set(deviceId, made);
    return made;
  }

  return {
    book,
    setBack() {
      for (const device of books.values()) Object.assign(device, { highest: 0, stoppedAt: 0 });
    },
    known: (deviceId) => books.get(deviceId),
    note(deviceId, text, at) {
      const { notes } = book(deviceId);
      notes.push({ at, text });
      if (notes.length > NOTES_KEPT) notes.shift();
    },
  };
}
