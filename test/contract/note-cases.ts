import { type Cases, NOT_ACTIVATED, PLAIN } from './cases.ts';

/** The cases of the rows about notes on a device. */
export const NOTES: Record<string, Cases> = {
  notes: { 200: PLAIN('notes', 'an activated device'), 403: NOT_ACTIVATED('notes') },
  'new note': {
    201: PLAIN('new note', 'an activated device'),
    403: NOT_ACTIVATED('new note'),
    409: {
      title: 'a device with 50 notes',
      async run({ api, path, device }) {
        const notes = `${path}/devices/${device.deviceId}/notes`;
        for (let count = 0; count < 50; count += 1) await api.post(notes, { json: { text: 'x' } });
        const refused = await api.post(notes, { json: { text: 'one more' } });
        const [{ noteId }] = (await api.get(notes)).body.notes;
        await api.delete(`${notes}/${noteId}`);
        return refused;
      },
    },
  },
  'end of a note': {
    204: {
      title: 'a note of the application',
      async run({ api, path, device }) {
        const notes = `${path}/devices/${device.deviceId}/notes`;
        const { noteId } = (await api.post(notes, { json: { text: 'x' } })).body;
        return api.delete(`${notes}/${noteId}`);
      },
    },
    403: NOT_ACTIVATED('end of a note'),
    404: PLAIN('end of a note', 'note not found'),
  },
};
