import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';

/** A note that somebody wrote on a device. */
export interface Note {
  noteId: string;
  /** The application whose note it is; null for a note of administration. */
  applicationId: string | null;
  text: string;
  /** The name of the person or the application, as it was when the note was written. */
  author: string;
  createdAt: Micros;
}

/** All notes of a device, the newest first. */
export const listNotes = (sql: Sql, deviceId: string): Promise<Note[]> =>
  sql.all(
    `SELECT note_id AS "noteId", application_id AS "applicationId", text, author, created_at AS "createdAt"
     FROM device_notes WHERE device_id = ? ORDER BY note_id DESC`,
    deviceId,
  );

export async function insertNote(unit: UnitOfWork, deviceId: string, note: Note): Promise<void> {
  await unit.run(
    `INSERT INTO device_notes (device_id, note_id, application_id, text, author, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
    deviceId,
    note.noteId,
    note.applicationId,
    note.text,
    note.author,
    note.createdAt,
  );
}

export async function deleteNote(unit: UnitOfWork, deviceId: string, noteId: string): Promise<void> {
  await unit.run('DELETE FROM device_notes WHERE device_id = ? AND note_id = ?', deviceId, noteId);
}

/** Removes the notes of a device that an application wrote. */
export const removeNotesOfApplication = (unit: UnitOfWork, deviceId: string): void =>
  unit.later('DELETE FROM device_notes WHERE device_id = ? AND application_id IS NOT NULL', [deviceId]);

/** Removes all notes of a device. */
export const removeNotes = (unit: UnitOfWork, deviceId: string): void =>
  unit.later('DELETE FROM device_notes WHERE device_id = ?', [deviceId]);
