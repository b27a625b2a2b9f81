import { noteBody, noteList } from '../http/note-body.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice, AtNote } from './services.ts';

type Services = Pick<ApiServices, 'notes'>;

/** Lists the notes of the application on a device. */
export async function listDeviceNotes({ notes }: Services, { params, caller }: AtDevice): Promise<Answer> {
  return { status: 200, body: noteList(await notes.list(caller, params.deviceId)) };
}

/** Writes a note on a device. */
export async function addDeviceNote(
  { notes }: Services,
  { params, caller, body, changed }: AtDevice<'common/device-note-create'>,
): Promise<Answer> {
  const author = caller.member?.name ?? caller.name;
  const note = await notes.add(caller, params.deviceId, { text: body.text, author });
  await changed({ id: note.noteId });
  return { status: 201, body: noteBody(note) };
}

export async function deleteDeviceNote({ notes }: Services, { params, caller }: AtNote): Promise<Answer> {
  await notes.remove(caller, params.deviceId, params.noteId);
  return { status: 204 };
}
