import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { a, button, div, dl, input, p, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { ROLE } from '../base/place.ts';
import { operation, readSeen, type Seen, send } from '../base/requests.ts';
import { mayChange } from '../base/session.ts';
import { askForChange } from '../parts/change.ts';
import { act } from '../parts/dialog.ts';
import { card, fact } from '../parts/show.ts';
import { devicesWith } from '../parts/tags.ts';

type Tags = Readonly<Record<string, string>>;

/** A row of the dialog. Its number stays the same while other rows are removed. */
interface Row {
  number: number;
  key: string;
  value: string;
}

/** The most tags of a device. */
const MOST = 32;

/** The fields for the tags of a device, a row for each tag. */
function TagRows({ tags }: { tags: Tags }) {
  const last = useRef(0);
  const row = (key: string, value: string): Row => {
    last.current += 1;
    return { number: last.current, key, value };
  };
  const first = useRef<Row[] | undefined>(undefined);
  first.current ??= Object.entries(tags).map(([key, value]) => row(key, value));
  const rows = useSignal<readonly Row[]>(first.current.length > 0 ? first.current : [row('', '')]);
  const field = (name: string, label: string, value: string, more: object): VNode =>
    input({
      type: 'text',
      name,
      'aria-label': label,
      placeholder: label,
      defaultValue: value,
      required: true,
      maxLength: 64,
      autoComplete: 'off',
      spellcheck: false,
      ...more,
    });
  return div(
    { class: 'stack tight' },
    rows.value.map(({ number, key, value }) =>
      div(
        { class: 'tag-row', key: number },
        field('tagKey', 'Key', key, {
          pattern: '[a-z][a-z0-9_.\\-]*',
          title: 'A lower-case letter, then lower-case letters, digits, _, . or -',
        }),
        field('tagValue', key === '' ? 'Value' : `Value of ${visible(key)}`, value, {}),
        button(
          {
            type: 'button',
            class: 'plain',
            'aria-label': key === '' ? 'Remove the tag' : `Remove ${visible(key)}`,
            onClick: () => (rows.value = rows.value.filter((one) => one.number !== number)),
          },
          '×',
        ),
      ),
    ),
    rows.value.length === 0 ? p({ class: 'quiet' }, 'The device will have no tags.') : null,
    rows.value.length >= MOST
      ? null
      : div(
          null,
          button(
            { type: 'button', class: 'tiny', onClick: () => (rows.value = [...rows.value, row('', '')]) },
            'Add a tag',
          ),
        ),
  );
}

/** The changes that turn the tags into those of the dialog: null removes a tag. Throws an Error for a key that is there twice. */
function changesOf(tags: Tags, data: FormData): Record<string, string | null> {
  const [keys, values] = [data.getAll('tagKey') as string[], data.getAll('tagValue') as string[]];
  const wanted = new Map(keys.map((key, index) => [key, values[index]!]));
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw new Error(`The key ${visible(twice)} is there twice.`);
  const removed = Object.keys(tags).filter((key) => !wanted.has(key));
  const changed = [...wanted].filter(([key, value]) => tags[key] !== value);
  return Object.fromEntries([...removed.map((key): [string, null] => [key, null]), ...changed]);
}

/** Asks for the tags of a device, as they are now: the page may show older ones. */
const edit = (deviceId: string, done: () => void): void => {
  const read = (): Promise<Seen<Tags>> => readSeen<Tags>(operation('readTags', { deviceId }));
  act(async () => {
    const seen = await read();
    askForChange<Tags>({
      title: `Tags of ${deviceId}`,
      text: 'Tags select devices for rollouts and in lists. They belong to the application, and are removed when the device is deactivated.',
      seen,
      // The rows stay as they were typed. What is sent is the difference from the tags that were shown first.
      fields: () => use(TagRows, { tags: seen.value }),
      does: 'Save',
      async send(data, { tag }) {
        const json = changesOf(seen.value, data);
        if (Object.keys(json).length === 0) return false;
        await send(operation('updateTags', { deviceId }), { json, ifMatch: tag });
        done();
        return true;
      },
      read,
      shown: (tags) => tags,
      done: () => `The tags of ${deviceId} were changed.`,
    });
    return undefined;
  });
};

/** The tags of a device, which its application may change. */
export function deviceTags(deviceId: string, tags: Tags, done: () => void): VNode | null {
  const all = Object.entries(tags);
  const isOwn = ROLE === 'application';
  if (all.length === 0 && !isOwn) return null;
  return card(
    {
      title: 'Tags',
      bare: true,
      side:
        isOwn && mayChange('device')
          ? button({ type: 'button', class: 'tiny', onClick: () => edit(deviceId, done) }, 'Edit')
          : null,
    },
    all.length === 0
      ? p({ class: 'pad quiet' }, 'The device has no tags.')
      : dl(
          { class: 'facts' },
          all.map(([key, value]) => fact(key, a({ href: devicesWith(key, value), class: 'wrap' }, visible(value)))),
        ),
  );
}
