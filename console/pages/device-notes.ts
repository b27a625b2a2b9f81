import { button, div, p, span, textarea, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { ROLE } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { DeviceNote, DeviceNoteList } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { controlField } from '../parts/fields.ts';
import { loaded } from '../parts/loaded.ts';
import { card, id, moment } from '../parts/show.ts';

/** The most characters of a note. */
const LONGEST = 2_000;
/** Milliseconds until the notes of others are shown. */
const BETWEEN_READS_MS = 30_000;

const mayWrite = (): boolean => mayChange('device', 'addDeviceNote');

const WHOSE = {
  operator: 'Only administration sees it. It stays when the device is deactivated.',
  application:
    'The people of the application and of administration see it. It is removed when the device is deactivated.',
} as const;

const add = (deviceId: string, done: () => void): void =>
  ask({
    title: `New note on ${deviceId}`,
    text: WHOSE[ROLE],
    fields: controlField(
      'Note',
      `At most ${LONGEST.toLocaleString('en')} characters.`,
      textarea({ name: 'text', rows: 5, required: true, maxLength: LONGEST, class: 'prose', dir: 'auto' }),
    ),
    does: 'Save',
    async act(data) {
      await send(operation('addDeviceNote', { deviceId }), { json: { text: typed(data, 'text') ?? '' } });
      done();
      return 'The note was saved.';
    },
  });

const remove = (deviceId: string, { noteId, author, text }: DeviceNote, done: () => void): void =>
  ask({
    title: `Delete the note of ${visible(author)}?`,
    text: div({ class: 'note-text', dir: 'auto' }, visible(text)),
    does: 'Delete',
    isBad: true,
    async act() {
      await send(operation('deleteDeviceNote', { deviceId, noteId }));
      done();
      return 'The note was deleted.';
    },
  });

function note(deviceId: string, one: DeviceNote, done: () => void): VNode {
  const { noteId, applicationId, text, author, createdAt } = one;
  return div(
    { class: 'device-note', key: noteId },
    div({ class: 'note-text', dir: 'auto' }, visible(text)),
    div(
      { class: 'note-by' },
      div(
        { class: 'row small quiet' },
        span({ dir: 'auto' }, visible(author)),
        ROLE === 'operator' && applicationId !== null ? id(applicationId) : null,
        moment(createdAt),
      ),
      mayWrite()
        ? button(
            {
              type: 'button',
              class: 'tiny',
              'aria-label': `Delete the note of ${visible(author)}`,
              onClick: () => remove(deviceId, one, done),
            },
            'Delete',
          )
        : null,
    ),
  );
}

function Notes({ deviceId }: { deviceId: string }) {
  const notes = useLoad(
    `${deviceId} notes`,
    (signal) => read<DeviceNoteList>(operation('listDeviceNotes', { deviceId }), { signal }),
    { every: BETWEEN_READS_MS },
  );
  return card(
    {
      title: 'Notes',
      bare: true,
      side: mayWrite()
        ? button({ type: 'button', class: 'tiny', onClick: () => add(deviceId, notes.again) }, 'New note')
        : null,
    },
    loaded(
      notes,
      (value) =>
        value.notes.length === 0
          ? p({ class: 'pad quiet' }, 'Nobody has written a note.')
          : div(
              { class: 'device-notes', role: 'group', 'aria-label': 'Notes on the device', tabIndex: 0 },
              value.notes.map((one) => note(deviceId, one, notes.again)),
            ),
      { lines: 1 },
    ),
  );
}

/** The notes that people have written on a device. */
export const deviceNotes = (deviceId: string): VNode => use(Notes, { deviceId, key: `${deviceId} notes` });
