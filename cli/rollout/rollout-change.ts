import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { HEALTH_OPTIONS, readHealth } from './health-options.ts';
import { RULE_OPTIONS, readAbort, readRules } from './rollout-rules.ts';
import { shown } from './rollout-shown.ts';

type Update = Operations['updateRollout']['input']['body'];

/** The options that remove a rule, each with the member of the body that becomes null. */
const REMOVED = {
  rate: 'ratePerMinute',
  'at-a-time': 'maxUnfinished',
  abort: 'abort',
  window: 'window',
  label: 'label',
} as const;
const REMOVE_OPTIONS = {
  'no-rate': { text: 'remove the limit of commands a minute' },
  'no-at-a-time': { text: 'remove the bound of devices that are carrying out a command' },
  'no-abort': { text: 'remove the rule that pauses the rollout' },
  'no-window': { text: 'make and publish commands at all times' },
  'no-health': { text: 'remove the rules about the health of devices' },
  'no-label': { text: 'remove the label' },
} satisfies Options;

function readRemoved(given: Given): Update {
  const removed: Update = {};
  for (const [name, member] of Object.entries(REMOVED)) {
    if (!given.flag(`no-${name}`)) continue;
    if (given.text(name) !== undefined) throw new UsageError(`--no-${name}`, `cannot be combined with --${name}`);
    removed[member] = null;
  }
  if (given.flag('no-health')) {
    if (given.list('health').length > 0) throw new UsageError('--no-health', 'cannot be combined with --health');
    removed.health = null;
  }
  return removed;
}

export const rolloutChange: Command = {
  name: 'rollout change',
  arguments: [{ name: 'ROLLOUT' }],
  summary: 'Changes the rules or the label of a paused or scheduled rollout',
  about: 'A rule that is not named stays as it is; so do --after and --abort-code when only --abort is given.',
  options: { ...RULE_OPTIONS, ...HEALTH_OPTIONS, ...REMOVE_OPTIONS, ...APPLICATION_OPTIONS },
  examples: [
    'lapel rollout change rol_0193480f3a5b00112233445566778899 --rate 30 --abort 20',
    'lapel rollout change rol_0193480f3a5b00112233445566778899 --window 22:00-05:00 --time-zone Asia/Tokyo --day sat',
    'lapel rollout change rol_0193480f3a5b00112233445566778899 --no-window --no-rate',
  ],
  async run(given, terminal) {
    const [rolloutId = ''] = given.positionals;
    const body: Update = { ...readRules(given), ...readHealth(given), ...readRemoved(given) };
    if (Object.keys(body).length === 0) throw new UsageError('--rate', 'is needed, or another change');
    const application = await openApplication(given, terminal);
    const rollout = await application.call('change the rollout', async (lapel) => {
      const present = body.abort ? (await lapel.readRollout({ rolloutId })).rules.abort : undefined;
      const abort = readAbort(given, present);
      return lapel.updateRollout({ rolloutId, body: { ...body, ...(abort && { abort }) } });
    });
    return { json: { ok: true, ...rollout }, text: shown(rollout) };
  },
};
