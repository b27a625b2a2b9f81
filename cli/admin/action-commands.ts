import { randomUUID } from 'node:crypto';
import { ADMIN_OPERATIONS } from '@lapel/client/admin-operations';
import { fillPath } from '@lapel/client/fill-path';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { ADMIN_OPTIONS, type Administration, openAdministration } from '../account/access.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { type ActionRecord, actionLines, devicesText, progressLine, stateLine } from './action-text.ts';
import { FILTER_OPTIONS } from './device-resource.ts';

type Start = SchemaTypes['admin/device-action-start'];
type Filter = SchemaTypes['admin/device-filter'];

// Milliseconds between two reads; longer while nothing changes.
const SHORTEST_PAUSE = 500;
const LONGEST_PAUSE = 5_000;
const FAILURES_IN_A_ROW = 15;

const NUMBERS: readonly string[] = ['batteryBelow', 'batteryFrom', 'lastSeenWithin', 'percent'];
const FLAGS: readonly string[] = ['connected', 'blocked'];

/** Reads the options that select devices. Throws a UsageError. */
function readFilter(given: Given): Filter {
  const filter: Record<string, unknown> = {};
  for (const [name, { parameter, ...option }] of Object.entries(FILTER_OPTIONS)) {
    const text = 'many' in option ? undefined : given.text(name);
    if ('many' in option) {
      const all = given.list(name);
      if (all.length > 0) filter[parameter] = all;
    } else if (text !== undefined) {
      if (FLAGS.includes(parameter) && text !== 'true' && text !== 'false')
        throw new UsageError(`--${name}`, 'is true or false');
      filter[parameter] = NUMBERS.includes(parameter)
        ? readWhole(name, text)
        : FLAGS.includes(parameter)
          ? text === 'true'
          : text;
    }
  }
  return filter as Filter;
}

const OPTIONS = {
  all: { text: 'all devices of the service; needed when no other option selects devices' },
  ...FILTER_OPTIONS,
  'dry-run': { text: 'only count the devices' },
  confirm: {
    value: 'N',
    text: 'do not ask: N devices are expected, and nothing is changed when more than that and a twentieth match',
  },
  detach: { text: 'do not wait for the end; lapel admin device-action watch follows the action' },
  ...ADMIN_OPTIONS,
} satisfies Options;

interface Asked {
  actionId?: string;
  body?: object;
  idempotencyKey?: string;
}

async function call<Body>(
  administration: Administration,
  what: string,
  operation: 'startDeviceAction' | 'readDeviceAction',
  { actionId, ...asked }: Asked,
): Promise<Body> {
  const { method, path } = ADMIN_OPERATIONS[operation];
  return (await administration.request(what, { method, path: fillPath(path, { actionId }), ...asked })) as Body;
}

/** Follows an action to its end. Resolves to undefined after an interruption. Throws a Failure. */
async function follow(
  administration: Administration,
  actionId: string,
  { interrupted, pause: rest, stderr }: Terminal,
): Promise<ActionRecord | undefined> {
  const screen = createScreen(stderr);
  let pause = SHORTEST_PAUSE;
  let before = '';
  let failures = 0;
  try {
    while (!interrupted.aborted) {
      try {
        const action = await call<ActionRecord>(administration, `read ${actionId}`, 'readDeviceAction', { actionId });
        failures = 0;
        if (action.endedAt !== null) return action;
        const line = progressLine(action);
        if (!screen.live && line !== before) screen.line(line);
        screen.show([line]);
        pause = line === before ? Math.min(LONGEST_PAUSE, pause * 1.5) : SHORTEST_PAUSE;
        before = line;
      } catch (error) {
        failures += 1;
        if (!(error instanceof Failure) || !error.passing || failures === FAILURES_IN_A_ROW) throw error;
        if (failures === 1) screen.line(oneLine(`${error.message}; trying again`));
      }
      await rest(pause, interrupted).catch(() => undefined);
    }
    return undefined;
  } finally {
    screen.show([]);
  }
}

/** Follows an action to the end of a command: exit code 1 unless all its devices are as wanted. */
async function outcomeOf(administration: Administration, actionId: string, terminal: Terminal): Promise<Outcome> {
  const action = await follow(administration, actionId, terminal);
  if (!action)
    throw new Interrupted(
      `The action ${actionId} goes on without this command.`,
      `  lapel admin device-action watch ${actionId}`,
      `  lapel admin device-action stop ${actionId}`,
    );
  const { state, counts } = action;
  const ok = state === 'completed' && counts.refused === 0;
  const outcome: Outcome = { json: { ok, ...action }, text: `${actionLines(action).join('\n')}\n` };
  if (ok) return outcome;
  const details = counts.refused === 0 ? '' : `; lapel admin device-action devices ${actionId} --state refused`;
  return { ...outcome, problem: `${stateLine(action)}${details}` };
}

/** Asks for the number of devices as the confirmation, unless it is given. Throws a UsageError and a Failure. */
async function confirmed(given: Given, matching: number, what: string, { ask }: Terminal): Promise<number> {
  if (given.text('confirm') !== undefined) return readWhole('confirm', given.text('confirm') ?? '');
  if (!ask) throw new UsageError('--confirm', `is needed without a terminal; ${devicesText(matching)} match`);
  const answer = await ask(`${what} ${devicesText(matching)}. Type ${matching} to confirm: `, { hidden: false });
  if (answer.trim() !== String(matching)) throw new Failure('nothing was changed: the number was not confirmed');
  return matching;
}

interface Kind {
  action: Start['action'];
  /** The words of the question. */
  what: string;
  summary: string;
  about?: string;
  options?: Options;
  arguments?: Command['arguments'];
  /** Reads what the action needs. Throws a UsageError. */
  read?(given: Given): Partial<Start>;
  examples: readonly string[];
}

const ABOUT =
  'The service changes the devices in the background, also when this command is interrupted. Without --confirm it asks for the number of devices first. A device that begins to match later is not changed; one that does not match any more when its turn comes is skipped.';

function readTags(given: Given): Partial<Start> {
  const tags = new Map<string, string | null>();
  for (const pair of given.positionals) {
    const [, key = '', value = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (key === '') throw new UsageError(pair, 'is not a tag as KEY=VALUE; --remove KEY removes a tag');
    tags.set(key, value);
  }
  for (const key of given.list('remove')) tags.set(key, null);
  if (tags.size === 0) throw new UsageError('KEY=VALUE', 'or --remove KEY is needed');
  return { tags: Object.fromEntries(tags) };
}

function readTarget(given: Given): Partial<Start> {
  const applicationId = given.text('to');
  if (applicationId === undefined) throw new UsageError('--to', 'is needed');
  return { applicationId };
}

const KINDS: readonly Kind[] = [
  {
    action: 'tag',
    what: 'Change the tags of',
    summary: 'Changes tags of all devices that match',
    arguments: [{ name: 'KEY=VALUE', optional: true, many: true }],
    options: {
      remove: {
        value: 'KEY',
        many: true,
        greedy: /^[^=\d][^=]*$/,
        text: 'remove the tag of this key; may be repeated, or followed by several keys',
      },
    },
    read: readTags,
    examples: ['lapel admin device-action tag wave=1 --application patrol --tag site=osaka'],
  },
  {
    action: 'block',
    what: 'Block',
    summary: 'Blocks all devices that match: closes their connections and refuses new ones',
    examples: ['lapel admin device-action block --developer acme --firmware 8.0.1'],
  },
  {
    action: 'unblock',
    what: 'Unblock',
    summary: 'Lets all blocked devices that match connect again',
    examples: ['lapel admin device-action unblock --developer acme --blocked true --confirm 120'],
  },
  {
    action: 'move',
    what: 'Move',
    summary: 'Activates all devices that match for another application of their developer',
    about:
      'The present activation of a device ends at once, with its unfinished transactions and its tags, and the device gets the command activate. Both applications get webhooks.',
    options: { to: { value: 'APPLICATION', text: 'the application for which the devices are activated' } },
    read: readTarget,
    examples: ['lapel admin device-action move --application patrol --to patrol-2 --tag wave=1'],
  },
  {
    action: 'cancel',
    what: 'Cancel the unfinished transactions of',
    summary: 'Cancels the unfinished transactions of all devices that match',
    examples: ['lapel admin device-action cancel --application patrol --not-seen-for 7d'],
  },
  {
    action: 'delete',
    what: 'Delete',
    summary: 'Deletes all devices that match and are not activated; with --force activated ones, too',
    options: { force: { text: 'delete activated devices, too, and cancel their unfinished transactions' } },
    read: (given) => (given.flag('force') ? { force: true } : {}),
    examples: [
      'lapel admin device-action delete --developer acme --not-seen-for 30d --dry-run',
      'lapel admin device-action delete --developer acme --not-seen-for 30d --force',
    ],
  },
];

const commandOf = ({ action, what, about, read, ...kind }: Kind): Command => ({
  name: `admin device-action ${action}`,
  ...(kind.arguments && { arguments: kind.arguments }),
  summary: kind.summary,
  about: about === undefined ? ABOUT : `${about}\n\n${ABOUT}`,
  options: { ...kind.options, ...OPTIONS },
  examples: kind.examples,
  endsItself: true,
  async run(given, terminal) {
    const filter = readFilter(given);
    const isAll = Object.keys(filter).length === 0;
    if (isAll && !given.flag('all'))
      throw new UsageError('--all', 'is needed for all devices of the service; or select some, as with --developer');
    if (!isAll && given.flag('all'))
      throw new UsageError('--all', 'cannot be combined with options that select devices');
    const wanted: Start = { action, filter, ...read?.(given) };
    const administration = await openAdministration(given, terminal);
    const count = await call<{ matching: number }>(administration, 'count the devices', 'startDeviceAction', {
      body: { ...wanted, dryRun: true },
    });
    if (given.flag('dry-run')) return { json: { ok: true, ...count }, text: `${devicesText(count.matching)} match\n` };
    const confirm = await confirmed(given, count.matching, what, terminal);
    const begun = await call<ActionRecord>(administration, `${action} the devices`, 'startDeviceAction', {
      body: { ...wanted, confirm },
      idempotencyKey: randomUUID(),
    });
    if (!given.flag('detach')) return outcomeOf(administration, begun.actionId, terminal);
    return { json: { ok: true, ...begun }, text: `${stateLine(begun)}\n` };
  },
});

const watch: Command = {
  name: 'admin device-action watch',
  arguments: [{ name: 'ACTION' }],
  summary: 'Follows a device action to its end',
  about: 'The exit code is 0 only when the action has completed and no device was refused.',
  options: ADMIN_OPTIONS,
  examples: ['lapel admin device-action watch act_0193480f3a5b00112233445566778899'],
  endsItself: true,
  async run(given, terminal) {
    const [actionId = ''] = given.positionals;
    return outcomeOf(await openAdministration(given, terminal), actionId, terminal);
  },
};

/** The commands that change all devices that match a filter, and the one that follows such a change. */
export const ACTION_COMMANDS: readonly Command[] = [...KINDS.map(commandOf), watch];
