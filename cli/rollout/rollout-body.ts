import type { Operations } from '@lapel/client/operations';
import { readTime } from '../device/duration.ts';
import { DEVICES_OPTIONS, readSelector } from '../device/selector-options.ts';
import { REVERT_OPTION, readRevertAfter, readTerms, TERMS_OPTIONS } from '../device/terms-options.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Terminal } from '../show/terminal.ts';
import { HEALTH_OPTIONS, readHealth } from './health-options.ts';
import { CONFIRM_OPTIONS, RETRY_OPTIONS, RULE_OPTIONS, readConfirm, readRetry, readRules } from './rollout-rules.ts';

export type Body = Operations['startRollout']['input']['body'];

/** The options of a rollout besides its operation: devices, stages, rules, terms. */
export const BODY_OPTIONS = {
  file: {
    value: 'FILE',
    file: true,
    text: 'file with the rollout as JSON, as in the REST API (- is standard input); other options replace its members',
  },
  ...DEVICES_OPTIONS,
  all: {
    text: 'for all activated devices; without this, or options that select devices, it asks for their number on a terminal, and does not start elsewhere',
  },
  'prefer-connected': { text: 'of the devices of a stage, connected ones come first' },
  continuous: { text: 'devices that begin to match later join; the rollout ends only when it is cancelled' },
  'start-at': {
    value: 'TIME',
    text: 'when the first stage begins, in UTC, as 2026-11-20T22:00:00Z; by default at once',
  },
  stage: {
    value: 'SIZE',
    many: true,
    text: 'a stage: 10% of the devices, or a number of them; may be repeated; the rest makes a last one',
  },
  succeeded: { value: 'PERCENT', text: 'the next stage begins when this share of the stage has succeeded (95)' },
  soak: { value: 'DURATION', text: 'and after this time more: 90s, 30m, 2h, 7d; needs --succeeded' },
  results: {
    value: 'N',
    text: 'and not before so many results (half of the stage, at most 20); needs --succeeded',
  },
  approval: { text: 'each stage waits for lapel rollout approve before the next one' },
  'approval-by-other': { text: '--approval, by a person who has neither started the rollout nor changed it last' },
  ...RULE_OPTIONS,
  ...CONFIRM_OPTIONS,
  ...HEALTH_OPTIONS,
  'auto-revert': { text: 'bring the devices back when a health rule stops the rollout; needs --health' },
  ...RETRY_OPTIONS,
  ...TERMS_OPTIONS,
  ...REVERT_OPTION,
} satisfies Options;

/** The devices that the options select; nothing when the file must select them. */
function devicesOf(given: Given): Partial<Body> {
  const selector = readSelector(given);
  const isAll = Object.keys(selector).length === 0;
  if (!isAll && given.flag('all')) throw new UsageError('--all', 'selects all devices; leave out the other options');
  return isAll && !given.flag('all') ? {} : { devices: selector };
}

function stagesOf(given: Given): Partial<Body> {
  const [succeeded, soak] = [given.text('succeeded'), given.text('soak')];
  const results = given.text('results');
  if (soak !== undefined && succeeded === undefined) throw new UsageError('--soak', 'needs --succeeded');
  if (results !== undefined && succeeded === undefined) throw new UsageError('--results', 'needs --succeeded');
  const rules = {
    ...(succeeded !== undefined && {
      continueWhen: {
        succeededPercent: readWhole('succeeded', succeeded),
        ...(soak !== undefined && { soakFor: readTime('soak', soak) }),
        ...(results !== undefined && { minimumResults: readWhole('results', results) }),
      },
    }),
    ...(given.flag('approval') && { approval: true }),
    ...(given.flag('approval-by-other') && { approval: { by: 'other' as const } }),
  };
  const stages = given.list('stage').map((size) => {
    const isShare = size.endsWith('%');
    const number = readWhole('stage', isShare ? size.slice(0, -1) : size);
    return { ...(isShare ? { percent: number } : { count: number }), ...rules };
  });
  if (stages.length === 0 && Object.keys(rules).length > 0) throw new UsageError('--stage', 'is needed');
  return stages.length === 0 ? {} : { stages };
}

function readAutoRevert(given: Given): Partial<Body> {
  if (!given.flag('auto-revert')) return {};
  if (given.list('health').length === 0) throw new UsageError('--auto-revert', 'needs --health');
  return { revert: 'automatic' };
}

function termsOf(given: Given): Partial<Body> {
  const { supersede, ...terms } = readTerms(given);
  return { ...terms, ...(supersede !== undefined && { supersede: true }), ...readRevertAfter(given) };
}

/** The rollout that options and file ask for, with this operation, if there is one. Throws a UsageError. */
export async function readBody(
  given: Given,
  operation: Pick<Body, 'operation' | 'parameters'> | undefined,
  terminal: Terminal,
): Promise<Partial<Body>> {
  const startAt = given.text('start-at');
  const options = {
    ...operation,
    ...readConfirm(given, operation?.operation),
    ...readHealth(given),
    ...readAutoRevert(given),
    ...devicesOf(given),
    ...stagesOf(given),
    ...readRules(given),
    ...readRetry(given),
    ...termsOf(given),
    ...(startAt !== undefined && { startAt }),
    ...(given.flag('prefer-connected') && { preferConnected: true }),
    ...(given.flag('continuous') && { continuous: true }),
  };
  const file = given.text('file');
  const read = file === undefined ? {} : await readJson('--file', file, terminal);
  return { ...(read as object), ...options };
}
