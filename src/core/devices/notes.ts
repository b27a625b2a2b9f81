import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { requireActivatedDevice } from './activation.ts';
import { findDevice } from './device-repository.ts';
import { deleteNote, insertNote, listNotes, type Note } from './note-repository.ts';

/** The most notes of a device that its application has, and the most that administration has beside them. */
const MOST_NOTES = 50;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'httpRefused'>;
}

interface Owner {
  applicationId: string;
  developerId: string;
}

type Reader = Owner | 'administration';

export type NotesOfDevices = ReturnType<typeof createNotes>;

/**
 * The notes that people write on a device, such as `screen broken, sent to repair`. Those of an application are seen by it
 * and by administration, and are removed when the device is deactivated. Those of administration are seen by it alone, and
 * stay with the device until it is removed, or moved to another developer.
 */
export function createNotes({ database, clock, ids, metrics }: Parts) {
  /** Throws DEVICE_UNAVAILABLE, DEVICE_NOT_ACTIVATED, DEVICE_ACTIVATED_ELSEWHERE; for administration DEVICE_NOT_FOUND. */
  async function requireDevice(sql: Sql, reader: Reader, deviceId: string): Promise<void> {
    if (reader !== 'administration') await requireActivatedDevice(sql, deviceId, reader);
    else if (!(await findDevice(sql, deviceId))) throw new DomainError('DEVICE_NOT_FOUND');
  }

  /** The notes of a device that the reader may see, the newest first. Throws the errors of `requireDevice`. */
  async function seen(sql: Sql, reader: Reader, deviceId: string): Promise<Note[]> {
    await requireDevice(sql, reader, deviceId);
    const notes = await listNotes(sql, deviceId);
    if (reader === 'administration') return notes;
    return notes.filter(({ applicationId }) => applicationId === reader.applicationId);
  }

  const change = <Result>(deviceId: string, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result> =>
    database.transact(work, { device: deviceId });

  return {
    list: (reader: Reader, deviceId: string): Promise<Note[]> => seen(database.read, reader, deviceId),

    /** Adds a note, and returns it. Throws the errors of `requireDevice`, and TOO_MANY_NOTES. */
    add: (writer: Reader, deviceId: string, { text, author }: { text: string; author: string }): Promise<Note> =>
      change(deviceId, async (unit) => {
        const applicationId = writer === 'administration' ? null : writer.applicationId;
        const own = (await seen(unit, writer, deviceId)).filter((note) => note.applicationId === applicationId);
        if (own.length >= MOST_NOTES) {
          metrics.httpRefused.inc({ bound: 'notes' });
          throw new DomainError('TOO_MANY_NOTES', { values: { limit: MOST_NOTES } });
        }
        const createdAt = clock.now();
        const note = { noteId: ids.next('note', createdAt), applicationId, text, author, createdAt };
        await insertNote(unit, deviceId, note);
        return note;
      }),

    /** Deletes a note that the reader sees. Throws the errors of `requireDevice`, and NOTE_NOT_FOUND. */
    remove: (reader: Reader, deviceId: string, noteId: string): Promise<void> =>
      change(deviceId, async (unit) => {
        const notes = await seen(unit, reader, deviceId);
        if (!notes.some((note) => note.noteId === noteId)) throw new DomainError('NOTE_NOT_FOUND');
        await deleteNote(unit, deviceId, noteId);
      }),
  };
}
