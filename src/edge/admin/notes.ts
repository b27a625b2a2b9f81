import { noteBody, noteList } from '../http/note-body.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, By } from './services.ts';

type Services = Pick<AdminServices, 'notes'>;

/** Lists the notes on a device, of administration and of its application. */
export async function listDeviceNotes({ notes }: Services, { params }: By<'deviceId'>): Promise<Answer> {
  return { status: 200, body: noteList(await notes.list('administration', params.deviceId)) };
}

/** Writes a note of administration on a device. */
export async function addDeviceNote(
  { notes }: Services,
  { params, caller, body, changed }: At<'deviceId', 'common/device-note-create'>,
): Promise<Answer> {
  const author = caller.person?.name ?? 'The administrator token';
  const note = await notes.add('administration', params.deviceId, { text: body.text, author });
  await changed({ id: note.noteId });
  return { status: 201, body: noteBody(note) };
}

export async function deleteDeviceNote({ notes }: Services, { params }: By<'deviceId' | 'noteId'>): Promise<Answer> {
  await notes.remove('administration', params.deviceId, params.noteId);
  return { status: 204 };
}
