import type { Text } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';
import { type ActionRecord, actionLines, DEVICE_STATES } from './action-text.ts';
import { column, date, type Resource, type Row } from './admin-resource.ts';

const ACTION = { ACTION: 'actionId' };
const show = (action: Row): Text =>
  `${actionLines(action as unknown as ActionRecord)
    .map(oneLine)
    .join('\n')}\n`;
const countOf =
  (state: string) =>
  ({ counts }: Row): string =>
    String((counts as Record<string, number> | undefined)?.[state] ?? '');

/** The changes of all devices that match a filter. */
export const DEVICE_ACTIONS: Resource = {
  resource: 'device-action',
  columns: [
    column('ID', 'actionId'),
    column('ACTION', 'action'),
    { ...column('STATE', 'state'), state: true },
    column('REASON', 'reason'),
    column('DEVICES', 'devices'),
    { head: 'DONE', cell: countOf('done') },
    { head: 'SKIPPED', cell: countOf('skipped') },
    { head: 'REFUSED', cell: countOf('refused') },
    { head: 'WAITING', cell: countOf('waiting') },
    date('CREATED (UTC)', 'createdAt'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists device actions, the newest first; times are in UTC',
      operation: 'listDeviceActions',
      kind: 'list',
      list: 'actions',
      first: 50,
      most: 100,
      examples: ['lapel admin device-action list'],
    },
    {
      verb: 'show',
      summary: 'Shows how far a device action is, and why devices were not changed',
      operation: 'readDeviceAction',
      show,
      arguments: ACTION,
      examples: ['lapel admin device-action show act_0193480f3a5b00112233445566778899'],
    },
    {
      verb: 'devices',
      isNoun: true,
      summary: 'Lists what became of each device of a device action',
      operation: 'listDevicesOfAction',
      arguments: ACTION,
      kind: 'list',
      list: 'devices',
      first: 100,
      columns: [
        column('DEVICE', 'deviceId'),
        { ...column('STATE', 'state'), state: true },
        column('CODE', 'code'),
        date('UPDATED (UTC)', 'updatedAt'),
      ],
      query: {
        state: { parameter: 'state', value: 'STATE', choices: DEVICE_STATES, text: 'only devices in this state' },
        code: { parameter: 'code', needs: 'state', value: 'CODE', text: 'only devices with this code; needs --state' },
      },
      examples: ['lapel admin device-action devices act_0193480f3a5b00112233445566778899 --state refused --limit 0'],
    },
    {
      verb: 'stop',
      summary: 'Stops a device action; what was changed stays',
      operation: 'stopDeviceAction',
      show,
      arguments: ACTION,
      examples: ['lapel admin device-action stop act_0193480f3a5b00112233445566778899'],
    },
  ],
};
