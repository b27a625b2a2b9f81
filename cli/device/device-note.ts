import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { DEVICE } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { notesText } from '../show/notes-text.ts';

export const deviceNote: Command = {
  name: 'device note',
  arguments: [DEVICE, { name: 'TEXT', optional: true }],
  summary: 'Writes a note on a device, and shows all of them; without a TEXT it only shows them',
  about:
    'A note is for people: the device does not see it. Notes are removed when the device is deactivated. A device has at most 50.',
  options: {
    delete: { value: 'NOTE', text: 'delete this note, also one of somebody else' },
    ...APPLICATION_OPTIONS,
  },
  examples: [
    'lapel device note 490154203237518',
    "lapel device note 490154203237518 'screen broken, sent to repair'",
    'lapel device note 490154203237518 --delete note_0193480f3a5b00112233445566778899',
  ],
  async run(given, terminal) {
    const [deviceId = '', text] = given.positionals;
    const noteId = given.text('delete');
    if (noteId !== undefined && text !== undefined) throw new UsageError('--delete', 'cannot be combined with a TEXT');
    const application = await openApplication(given, terminal);
    if (text !== undefined)
      await application.call(`write a note on ${deviceId}`, (lapel) =>
        lapel.addDeviceNote({ deviceId, body: { text } }),
      );
    if (noteId !== undefined)
      await application.call(`delete ${noteId}`, (lapel) => lapel.deleteDeviceNote({ deviceId, noteId }));
    const { notes } = await application.call(`read the notes on ${deviceId}`, (lapel) =>
      lapel.listDeviceNotes({ deviceId }),
    );
    return { json: { ok: true, deviceId, notes }, text: notesText(notes) };
  },
};
