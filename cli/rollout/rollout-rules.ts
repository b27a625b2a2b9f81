import { CONFIRMED_OPERATIONS } from '@lapel/schemas/base/rollouts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { readTime } from '../device/duration.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';

type Abort = SchemaTypes['common/rollout-abort'];
type Window = SchemaTypes['common/rollout-window'];
type Create = SchemaTypes['rest/rollout-create'];

// The number of results before which the abort rule does not count, when the command line does not say it.
const MINIMUM_RESULTS = 10;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** The options of rules that can be changed later. */
export const RULE_OPTIONS = {
  rate: {
    value: 'N',
    text: 'make at most N commands a minute; FROM-TO: begin with FROM, and double up to TO; that needs --double-after',
  },
  'double-after': {
    value: 'N',
    text: 'the rate doubles after each N devices that have succeeded; needs --rate FROM-TO',
  },
  'at-a-time': {
    value: 'N',
    text: 'at most N devices are carrying out a command; with --abort 100 by default',
  },
  abort: { value: 'PERCENT', text: 'pause the rollout when this share of the results are failures' },
  after: {
    value: 'N',
    text: `not before so many results (${MINIMUM_RESULTS}), so never in a smaller rollout; needs --abort`,
  },
  'abort-code': {
    value: 'CODE',
    many: true,
    text: 'only this code of an error counts as a failure; may be repeated; needs --abort',
  },
  window: {
    value: 'FROM-TO',
    text: 'make and publish commands only at this time of day, as 22:00-05:00; needs --time-zone',
  },
  day: {
    value: 'DAY',
    many: true,
    choices: DAYS,
    text: 'a day on which the window begins; may be repeated (all days)',
  },
  'time-zone': { value: 'ZONE', text: 'the time zone of the window, as Asia/Tokyo' },
  label: { value: 'TEXT', text: 'a name for people' },
} satisfies Options;

/** Seconds within which a device has to be seen again, when the command line does not say it. */
const SEEN_AGAIN_WITHIN = 86_400;

/** The options that say when a success is final. */
export const CONFIRM_OPTIONS = {
  confirm: {
    value: 'DURATION',
    text: 'a device has succeeded when it is seen again within this time (1d, for --install, --firmware, --wifi and --apn); none: when it says so',
  },
  'version-kept': { text: 'and when it reports the version' },
} satisfies Options;

/** Reads when a success of the operation is final. Throws a UsageError. */
export function readConfirm(given: Given, operation: Create['operation'] | undefined): Pick<Create, 'confirm'> {
  const text = given.text('confirm');
  const isUsual = text === undefined && operation !== undefined && CONFIRMED_OPERATIONS.includes(operation);
  if (text === 'none' || (text === undefined && !isUsual)) {
    if (given.flag('version-kept')) throw new UsageError('--version-kept', 'needs --confirm');
    return {};
  }
  const seenAgainWithin = text === undefined ? SEEN_AGAIN_WITHIN : readTime('confirm', text);
  return { confirm: { seenAgainWithin, ...(given.flag('version-kept') && { versionKept: true }) } };
}

/** The options that let failed devices try again. */
export const RETRY_OPTIONS = {
  retry: {
    value: 'CODE',
    many: true,
    text: 'a device that fails with this code gets another command; may be repeated',
  },
  attempts: { value: 'N', text: 'the most commands of a device (2); needs --retry' },
  'retry-after': { value: 'DURATION', text: 'time between the failure and the next command (0); needs --retry' },
} satisfies Options;

function readWindow(given: Given): Window | undefined {
  const [window, timeZone] = [given.text('window'), given.text('time-zone')];
  const days = given.list('day') as NonNullable<Window['days']>;
  if (window === undefined) {
    const other = timeZone !== undefined ? '--time-zone' : days.length > 0 ? '--day' : undefined;
    if (other !== undefined) throw new UsageError(other, 'needs --window');
    return undefined;
  }
  if (timeZone === undefined) throw new UsageError('--window', 'needs --time-zone');
  const [, from = '', to = ''] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(window) ?? [];
  if (from === '') throw new UsageError('--window', `"${window}" is no window; write it as 22:00-05:00`);
  return { from, to, timeZone, ...(days.length > 0 && { days }) };
}

/** Reads the abort rule; `present` is the rule whose other members stay. Throws a UsageError. */
export function readAbort(given: Given, present?: Abort): Abort | undefined {
  const [abort, after, codes] = [given.text('abort'), given.text('after'), given.list('abort-code')];
  if (abort === undefined) {
    const other = after !== undefined ? '--after' : codes.length > 0 ? '--abort-code' : undefined;
    if (other !== undefined) throw new UsageError(other, 'needs --abort');
    return undefined;
  }
  return {
    minimumResults: MINIMUM_RESULTS,
    ...present,
    failedPercent: readWhole('abort', abort),
    ...(after !== undefined && { minimumResults: readWhole('after', after) }),
    ...(codes.length > 0 && { codes }),
  };
}

function readRate(given: Given, rate: string | undefined): Pick<Create, 'ratePerMinute'> {
  const doubleAfter = given.text('double-after');
  const [, from, to] = /^(\d+)-(\d+)$/.exec(rate ?? '') ?? [];
  if (from === undefined || to === undefined) {
    if (doubleAfter !== undefined) throw new UsageError('--double-after', 'needs --rate FROM-TO');
    return rate === undefined ? {} : { ratePerMinute: readWhole('rate', rate) };
  }
  if (doubleAfter === undefined) throw new UsageError('--rate', 'FROM-TO needs --double-after');
  return {
    ratePerMinute: {
      from: readWhole('rate', from),
      to: readWhole('rate', to),
      doubleAfter: readWhole('double-after', doubleAfter),
    },
  };
}

/** Reads the rules that can be changed later. Throws a UsageError. */
export function readRules(
  given: Given,
): Pick<Create, 'ratePerMinute' | 'maxUnfinished' | 'abort' | 'window' | 'label'> {
  const [rate, most, label] = [given.text('rate'), given.text('at-a-time'), given.text('label')];
  const [abort, window] = [readAbort(given), readWindow(given)];
  return {
    ...readRate(given, rate),
    ...(most !== undefined && { maxUnfinished: readWhole('at-a-time', most) }),
    ...(abort && { abort }),
    ...(window && { window }),
    ...(label !== undefined && { label }),
  };
}

/** Reads which failures are tried again. Throws a UsageError. */
export function readRetry(given: Given): Pick<Create, 'retry'> {
  const [codes, attempts, after] = [given.list('retry'), given.text('attempts'), given.text('retry-after')];
  if (codes.length === 0) {
    const other = attempts !== undefined ? '--attempts' : after !== undefined ? '--retry-after' : undefined;
    if (other !== undefined) throw new UsageError(other, 'needs --retry');
    return {};
  }
  return {
    retry: {
      codes,
      attempts: attempts === undefined ? 2 : readWhole('attempts', attempts),
      after: after === undefined ? 0 : readTime('retry-after', after),
    },
  };
}
