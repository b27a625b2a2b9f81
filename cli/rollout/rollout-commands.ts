import type { LapelClient } from '@lapel/client/lapel-client';
import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import { UsageError } from '../line/usage-error.ts';
import { type Column, table, timeText } from '../show/table.ts';
import { resultsText } from './results-text.ts';
import { rolloutChange } from './rollout-change.ts';
import { rolloutApprove, rolloutResume } from './rollout-decisions.ts';
import { rolloutRevert } from './rollout-revert.ts';
import { shown } from './rollout-shown.ts';
import { DEVICE_STATES, ROLLOUT_STATES, type Rollout, stateText } from './rollout-text.ts';

type Row = Operations['listRollouts']['answer']['rollouts'][number];
type Device = Operations['listRolloutDevices']['answer']['devices'][number];

const ROLLOUT = 'rol_0193480f3a5b00112233445566778899';
const FIRST = 100;
// The largest page of the service.
const PAGE = 1000;

const COLUMNS: readonly Column<Row>[] = [
  { head: 'ROLLOUT', cell: ({ rolloutId }) => rolloutId },
  { head: 'STATE', cell: stateText, state: true },
  { head: 'STAGE', cell: ({ stage, stages }) => `${stage}/${stages}` },
  { head: 'DEVICES', cell: ({ devices }) => String(devices) },
  { head: 'SUCCEEDED', cell: ({ counts }) => String(counts.succeeded) },
  { head: 'FAILED', cell: ({ counts }) => String(counts.failed) },
  { head: 'CREATED (UTC)', cell: ({ createdAt }) => timeText(createdAt) },
  { head: 'SUBJECT', cell: ({ subject }) => subject, flexible: true },
  { head: 'LABEL', cell: ({ label }) => label, flexible: true },
];
const DEVICE_COLUMNS: readonly Column<Device>[] = [
  { head: 'DEVICE', cell: ({ deviceId }) => deviceId },
  { head: 'STAGE', cell: ({ stage }) => String(stage) },
  { head: 'STATE', cell: ({ state }) => state, state: true },
  { head: 'TRANSACTION', cell: ({ transactionId }) => (transactionId === null ? null : String(transactionId)) },
  { head: 'ATTEMPTS', cell: ({ attempts }) => attempts },
  { head: 'CODE', cell: ({ code }) => code },
  { head: 'UPDATED (UTC)', cell: ({ updatedAt }) => timeText(updatedAt) },
];

const rolloutList: Command = {
  name: 'rollout list',
  summary: 'Lists the rollouts of the application, the newest first',
  options: {
    state: {
      value: 'STATE',
      choices: ROLLOUT_STATES,
      text: 'only rollouts in this state',
    },
    ...limitOption(FIRST),
    ...APPLICATION_OPTIONS,
  },
  examples: ['lapel rollout list', 'lapel rollout list --state paused --json | jq .rollouts[].rolloutId'],
  async run(given, terminal) {
    const limit = readLimit(given, FIRST);
    const state = given.text('state') as Row['state'] | undefined;
    const application = await openApplication(given, terminal);
    const query = { limit: Math.min(limit, PAGE), ...(state && { state }) };
    const rollouts = await application.call('list the rollouts', (lapel) =>
      take(lapel.each('listRollouts', { query }), limit),
    );
    return {
      json: { ok: true, rollouts, total: rollouts.length },
      text: table(COLUMNS, rollouts, 'There are none; see lapel rollout start --help'),
    };
  },
};

const rolloutShow: Command = {
  name: 'rollout show',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Shows a rollout with its stages, errors and history',
  options: APPLICATION_OPTIONS,
  examples: [`lapel rollout show ${ROLLOUT}`, `lapel rollout show ${ROLLOUT} --json | jq .counts`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const rollout = await application.call('read the rollout', (lapel) => lapel.readRollout({ rolloutId }));
    return { json: { ok: true, ...rollout }, text: shown(rollout) };
  },
};

const rolloutResults: Command = {
  name: 'rollout results',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Shows how many devices of a rollout succeeded and failed over time',
  options: APPLICATION_OPTIONS,
  examples: [`lapel rollout results ${ROLLOUT}`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const results = await application.call('read the results', (lapel) => lapel.readRolloutResults({ rolloutId }));
    return { json: { ok: true, ...results }, text: resultsText(results) };
  },
};

const rolloutDevices: Command = {
  name: 'rollout devices',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Lists the devices of a rollout',
  options: {
    state: {
      value: 'STATE',
      choices: DEVICE_STATES,
      text: 'only devices in this state',
    },
    code: { value: 'CODE', text: 'only devices with this code of an error; needs --state' },
    ...limitOption(FIRST),
    ...APPLICATION_OPTIONS,
  },
  examples: [
    `lapel rollout devices ${ROLLOUT} --state failed --code NO_ANSWER`,
    `lapel rollout devices ${ROLLOUT} --limit 0 --json | jq .devices[].deviceId`,
  ],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const limit = readLimit(given, FIRST);
    const [state, code] = [given.text('state') as Device['state'] | undefined, given.text('code')];
    if (code !== undefined && state === undefined) throw new UsageError('--code', 'needs --state');
    const query = { limit: Math.min(limit, PAGE), ...(state && { state }), ...(code !== undefined && { code }) };
    const application = await openApplication(given, terminal);
    const devices = await application.call('list the devices of the rollout', (lapel) =>
      take(lapel.each('listRolloutDevices', { rolloutId, query }), limit),
    );
    return {
      json: { ok: true, devices, total: devices.length },
      text: table(DEVICE_COLUMNS, devices, 'There are none.'),
    };
  },
};

/** Makes a command that changes the state of a rollout. */
const action = (
  verb: string,
  summary: string,
  ask: (lapel: LapelClient, rolloutId: string) => Promise<Rollout>,
): Command => ({
  name: `rollout ${verb}`,
  arguments: [{ name: 'ROLLOUT' }],
  summary,
  options: APPLICATION_OPTIONS,
  examples: [`lapel rollout ${verb} ${ROLLOUT}`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const rollout = await application.call(`${verb} the rollout`, (lapel) => ask(lapel, rolloutId));
    return { json: { ok: true, ...rollout }, text: `${rolloutId} is ${stateText(rollout)}\n` };
  },
});

const rolloutRetry: Command = {
  name: 'rollout retry',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Lets failed devices of a rollout have another command',
  options: {
    code: { value: 'CODE', text: 'only devices with this code of an error' },
    'dry-run': { text: 'only count the devices' },
    ...APPLICATION_OPTIONS,
  },
  examples: [`lapel rollout retry ${ROLLOUT} --dry-run`, `lapel rollout retry ${ROLLOUT} --code NO_ANSWER`],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const [code, isDry] = [given.text('code'), given.flag('dry-run')];
    const application = await openApplication(given, terminal);
    const { devices } = await application.call('let failed devices try again', (lapel) =>
      lapel.retryRollout({ rolloutId, body: { ...(code !== undefined && { code }), ...(isDry && { dryRun: true }) } }),
    );
    const counted = `${devices} ${devices === 1 ? 'device' : 'devices'} of ${rolloutId}`;
    const wait = isDry ? 'would wait' : devices === 1 ? 'waits' : 'wait';
    return { json: { ok: true, rolloutId, devices }, text: `${counted} ${wait} for another command\n` };
  },
};

export const ROLLOUT_COMMANDS: readonly Command[] = [
  rolloutList,
  rolloutShow,
  rolloutResults,
  rolloutDevices,
  action('pause', 'Pauses a rollout; what was not delivered is taken back', (lapel, rolloutId) =>
    lapel.pauseRollout({ rolloutId }),
  ),
  rolloutResume,
  rolloutApprove,
  rolloutChange,
  rolloutRetry,
  rolloutRevert,
  action('cancel', 'Cancels a rollout and its unfinished transactions', (lapel, rolloutId) =>
    lapel.cancelRollout({ rolloutId }),
  ),
];
