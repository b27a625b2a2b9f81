import { type Results, resultsText } from '../rollout/results-text.ts';
import { shown } from '../rollout/rollout-shown.ts';
import { DEVICE_STATES, ROLLOUT_STATES, type Rollout } from '../rollout/rollout-text.ts';
import type { Text } from '../show/look.ts';
import { column, date, flexible, type Resource, type Row } from './admin-resource.ts';

const countOf =
  (state: string) =>
  ({ counts }: Row): string =>
    String((counts as Record<string, number> | undefined)?.[state] ?? '');
const show = (rollout: Row): Text => shown(rollout as unknown as Rollout);
const ROLLOUT = { ROLLOUT: 'rolloutId' };

/** The rollouts of all applications. */
export const ROLLOUTS: Resource = {
  resource: 'rollout',
  columns: [
    column('ROLLOUT', 'rolloutId'),
    column('APPLICATION', 'applicationId'),
    { ...column('STATE', 'state'), state: true },
    column('REASON', 'reason'),
    { head: 'STAGE', cell: ({ stage, stages }) => `${String(stage)}/${String(stages)}` },
    column('DEVICES', 'devices'),
    { head: 'SUCCEEDED', cell: countOf('succeeded') },
    { head: 'FAILED', cell: countOf('failed') },
    date('CREATED (UTC)', 'createdAt'),
    flexible('SUBJECT', 'subject'),
    flexible('LABEL', 'label'),
  ],
  verbs: [
    {
      verb: 'list',
      summary: 'Lists the rollouts of all applications, the newest first',
      operation: 'listFleetRollouts',
      kind: 'list',
      list: 'rollouts',
      first: 100,
      query: {
        state: {
          parameter: 'state',
          value: 'STATE',
          choices: ROLLOUT_STATES,
          text: 'only rollouts in this state',
        },
        operation: { parameter: 'operation', value: 'NAME', text: 'only rollouts of this operation' },
        application: { parameter: 'applicationId', value: 'ID', text: 'only rollouts of this application' },
        device: { parameter: 'deviceId', value: 'DEVICE', text: 'only rollouts that have this device' },
      },
      examples: ['lapel admin rollout list --state paused', 'lapel admin rollout list --application patrol --json'],
    },
    {
      verb: 'show',
      summary: 'Shows a rollout with its stages, errors and history',
      operation: 'readFleetRollout',
      show,
      arguments: ROLLOUT,
      examples: ['lapel admin rollout show rol_0193480f3a5b00112233445566778899'],
    },
    {
      verb: 'results',
      isNoun: true,
      summary: 'Shows how many devices of a rollout succeeded and failed over time',
      operation: 'readFleetRolloutResults',
      show: (results) => resultsText(results as unknown as Results),
      arguments: ROLLOUT,
      examples: ['lapel admin rollout results rol_0193480f3a5b00112233445566778899'],
    },
    {
      verb: 'devices',
      isNoun: true,
      summary: 'Lists the devices of a rollout',
      operation: 'listFleetRolloutDevices',
      arguments: ROLLOUT,
      kind: 'list',
      list: 'devices',
      first: 100,
      columns: [
        column('DEVICE', 'deviceId'),
        column('STAGE', 'stage'),
        { ...column('STATE', 'state'), state: true },
        column('TRANSACTION', 'transactionId'),
        column('ATTEMPTS', 'attempts'),
        column('CODE', 'code'),
        date('UPDATED (UTC)', 'updatedAt'),
      ],
      query: {
        state: {
          parameter: 'state',
          value: 'STATE',
          choices: DEVICE_STATES,
          text: 'only devices in this state',
        },
        code: {
          parameter: 'code',
          needs: 'state',
          value: 'CODE',
          text: 'only devices with this code of an error; needs --state',
        },
      },
      examples: ['lapel admin rollout devices rol_0193480f3a5b00112233445566778899 --state failed'],
    },
    {
      verb: 'pause',
      summary: 'Pauses a rollout; its application can let it go on',
      operation: 'pauseFleetRollout',
      show,
      arguments: ROLLOUT,
      examples: ['lapel admin rollout pause rol_0193480f3a5b00112233445566778899'],
    },
    {
      verb: 'cancel',
      summary: 'Cancels a rollout and its unfinished transactions',
      operation: 'cancelFleetRollout',
      show,
      arguments: ROLLOUT,
      examples: ['lapel admin rollout cancel rol_0193480f3a5b00112233445566778899'],
    },
  ],
};
