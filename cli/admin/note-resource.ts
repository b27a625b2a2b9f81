import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { notesText } from '../show/notes-text.ts';
import type { Resource } from './admin-resource.ts';

const AT = { DEVICE: 'deviceId' } as const;

/** The notes on a device, of administration and of its application. */
export const NOTES: Resource = {
  resource: 'note',
  columns: [],
  verbs: [
    {
      verb: 'create',
      summary: 'Writes a note of administration on a device',
      about:
        'Only administration sees it. It stays when the device is deactivated, and is removed when the device is deleted or moved to another developer.',
      operation: 'addDeviceNote',
      arguments: { ...AT, TEXT: 'text' },
      examples: ["lapel admin note create 490154203237518 'screen broken, sent to repair'"],
    },
    {
      verb: 'list',
      summary: 'Lists the notes on a device, the newest first; times are in UTC',
      about: 'Notes of administration, and those of the application for which the device is activated.',
      operation: 'listDeviceNotes',
      arguments: AT,
      show: (answer) => notesText((answer as unknown as SchemaTypes['common/device-note-list']).notes),
      examples: ['lapel admin note list 490154203237518'],
    },
    {
      verb: 'delete',
      summary: 'Deletes a note on a device, also one of somebody else',
      operation: 'deleteDeviceNote',
      arguments: { ...AT, NOTE: 'noteId' },
      done: 'deleted',
      examples: ['lapel admin note delete 490154203237518 note_0193480f3a5b00112233445566778899'],
    },
  ],
};
