import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { conditionsOf, filterOf } from '../base/device-filter.ts';
import { button, type Child, div, dl, p, use, type VNode } from '../base/elements.ts';
import { count, counted } from '../base/format.ts';
import { addressOf, place } from '../base/place.ts';
import { createKeys } from '../base/request-key.ts';
import { operation, read } from '../base/requests.ts';
import type { DeviceAction, DeviceActionCount, DeviceActionStart, DeviceFilter } from '../base/rows.ts';
import { tagChangesOf } from '../base/tag-changes.ts';
import { given, typed } from '../base/typed.ts';
import { ACTION_NAMES } from '../parts/action-rows.ts';
import { ask, close, open, title } from '../parts/dialog.ts';
import { tagChangeFields, textField, tick } from '../parts/fields.ts';
import { trouble } from '../parts/loaded.ts';
import { fact } from '../parts/show.ts';

type Action = DeviceAction['action'];

interface Kind {
  /** The effects of the action, in words for the person who decides. */
  text: string;
  does(devices: string): string;
  /** True for what cannot be undone: the number of devices must be typed. */
  isFinal?: boolean;
  fields?(): Child;
  read?(data: FormData): Partial<DeviceActionStart>;
}

const KINDS: Readonly<Record<Action, Kind>> = {
  tag: {
    text: 'Other tags stay as they are. Devices that are not activated have no tags, and are refused.',
    does: (devices) => `Change the tags of ${devices}`,
    fields: tagChangeFields,
    read: (data) => ({ tags: tagChangesOf(data) }),
  },
  block: {
    text: 'Their connections are closed, and they cannot log in until they are unblocked. Their commands wait.',
    does: (devices) => `Block ${devices}`,
  },
  unblock: { text: 'Blocked devices can log in again.', does: (devices) => `Unblock ${devices}` },
  move: {
    text: 'Their present activation ends at once, with their unfinished commands and their tags, and they get the command to activate for the other application. Both applications are notified. This cannot be undone.',
    does: (devices) => `Move ${devices}`,
    isFinal: true,
    fields: () =>
      textField({
        name: 'applicationId',
        label: 'To the application',
        hint: 'Its applicationId. It must belong to the developer of the devices.',
        required: true,
      }),
    read: (data) => given({ applicationId: typed(data, 'applicationId') }) as Partial<DeviceActionStart>,
  },
  cancel: {
    text: 'All their unfinished commands end, also those of rollouts. Their applications are notified of each. This cannot be undone.',
    does: (devices) => `Cancel the commands of ${devices}`,
    isFinal: true,
  },
  delete: {
    text: 'They are removed with their credentials, status and sessions, and cannot log in any more. This cannot be undone.',
    does: (devices) => `Delete ${devices}`,
    isFinal: true,
    fields: () => tick({ name: 'force', label: 'Activated devices, too; their applications are notified' }),
    read: (data) => (data.has('force') ? { force: true } : {}),
  },
};

/** The conditions, so that one sees what is meant before it begins. */
function meant(filter: DeviceFilter): VNode {
  const conditions = conditionsOf(filter);
  if (conditions.length === 0) return p({ class: 'note warn' }, 'There is no filter: these are all devices.');
  return dl(
    { class: 'facts' },
    conditions.map(([name, value]) => fact(name, value)),
  );
}

/** Asks for a confirmation, and begins the action. */
function confirm(action: Action, filter: DeviceFilter, matching: number): void {
  const { text, does, isFinal = false, fields, read: readFields } = KINDS[action];
  const devices = counted(matching, 'device');
  const keyOf = createKeys();
  ask({
    title: `${does(devices)}?`,
    text: [p({ class: 'soft' }, text), meant(filter)],
    ...(fields && { fields: fields() }),
    does: does(devices),
    isBad: isFinal,
    ...(isFinal && { typed: String(matching) }),
    async act(data, go) {
      const json = { action, filter, ...readFields?.(data), confirm: matching };
      const { actionId } = await read<DeviceAction>(operation('startDeviceAction'), {
        json,
        idempotencyKey: keyOf(json),
      });
      go(addressOf(['device-actions', actionId]));
      return 'The action has begun.';
    },
  });
}

function Choice({ filter }: { filter: DeviceFilter }) {
  const found = useSignal<DeviceActionCount | null>(null);
  const error = useSignal<Error | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const json = { action: 'block', filter, dryRun: true };
    read<DeviceActionCount>(operation('startDeviceAction'), { json, signal: stop.signal }).then(
      (counted) => (found.value = counted),
      (thrown: Error) => {
        if (!stop.signal.aborted) error.value = thrown;
      },
    );
    return () => stop.abort();
  }, []);
  const { matching = 0, limit = 0 } = found.value ?? {};
  const words =
    found.value === null
      ? 'Counting the devices ...'
      : matching > limit
        ? `More than ${count(limit)} devices match, which is the most of an action. Use a narrower filter.`
        : `${counted(matching, 'device')} ${matching === 1 ? 'matches' : 'match'} now, on all pages of the list.`;
  const isPossible = matching > 0 && matching <= limit;
  return div(
    null,
    title('Change all devices that match'),
    meant(filter),
    error.value === null ? p({ class: 'soft', role: 'status' }, words) : trouble(error.value),
    div(
      { class: 'stack tight', role: 'group', 'aria-label': 'Actions' },
      Object.entries(ACTION_NAMES).map(([action, name]) =>
        button(
          {
            type: 'button',
            key: action,
            disabled: !isPossible,
            onClick: () => confirm(action as Action, filter, matching),
          },
          `${name} ...`,
        ),
      ),
    ),
    p(
      { class: 'quiet small' },
      'A rollout is started by the application of the devices: its list of devices leads there.',
    ),
    div({ class: 'ends' }, button({ type: 'button', onClick: close }, 'Back')),
  );
}

/** The button that changes all devices which match the filters of the list, not only those of the page. */
export const changeDevices = (): VNode =>
  button(
    {
      type: 'button',
      class: 'tiny',
      onClick: () => open(use(Choice, { filter: filterOf(place.peek().query) })),
    },
    'Change all that match ...',
  );
