import { REVERTIBLE, type Release } from '../customer/action.ts';
import type { RolloutPlan } from '../customer/rollout-plan.ts';
import type { RelativeWindow, Window } from '../customer/rollout-window.ts';
import type { Path } from './check-shape.ts';
import { bytes, duration } from './quantities.ts';
import type * as file from './scenario-file.ts';

/** A rollout that the customer starts once in a phase, `after` milliseconds from its beginning. */
export interface PlannedRollout {
  readonly after: number;
  readonly plan: RolloutPlan;
}

/** The members of an action that only a rollout has. */
const OF_ROLLOUTS = [
  'after',
  'label',
  'operation',
  'parameters',
  'devices',
  'stages',
  'ratePerMinute',
  'maxUnfinished',
  'window',
  'startIn',
  'startAt',
  'abort',
  'retry',
  'confirm',
  'health',
  'continuous',
  'preferConnected',
  'approve',
  'resume',
] as const satisfies readonly (keyof file.Action)[];
/** The members of other actions that a rollout has not. */
const OF_OTHERS = [
  'rate',
  'rateTo',
  'each',
  'within',
  'groups',
  'share',
  'values',
] as const satisfies readonly (keyof file.Action)[];
const INSTALLS: readonly string[] = ['installSoftware', 'updateFirmware'];
/** The operations whose success a device can confirm. */
const CONFIRMED: readonly string[] = [...INSTALLS, 'setWifi', 'setApn'];
const MINUTE = 60_000;
/** Seconds; the service takes no shorter time for a confirmation. */
const LEAST_CONFIRM = 60;
/** Seconds; the service takes no shorter time for a health rule. */
const LEAST_WITHIN = 300;
const DAY = 24 * 60 * MINUTE;

type Wrong = (path: Path, text: string) => void;

/** Reports the members of a rollout in another action. */
export function refuseRolloutMembers(action: file.Action, path: Path, wrong: Wrong): void {
  for (const member of OF_ROLLOUTS)
    if (action[member] !== undefined) wrong([...path, member], 'can be given only for rollout');
}

const seconds = (text: string): number => duration(text) / 1000;

/** The name and the version of a release, as an action gives them. */
export const releaseOf = ({ size, ...rest }: file.Release): Release =>
  ({ ...rest, ...(size !== undefined && { size: bytes(size) }) }) as Release;

function windowOf(given: file.RolloutWindow, path: Path, wrong: Wrong): Window | RelativeWindow {
  const { closes, opens = '0s', from, to, timeZone, days } = given;
  if (closes === undefined) {
    if (from !== undefined && to !== undefined && timeZone !== undefined && given.opens === undefined)
      return { from, to, timeZone, ...(days && { days }) };
    wrong(path, 'needs closes, or from, to and timeZone');
    return { opens: 0, closes: DAY };
  }
  const [first, last] = [duration(opens), duration(closes)].toSorted((one, other) => one - other) as [number, number];
  if (from !== undefined || to !== undefined || timeZone !== undefined || days !== undefined)
    wrong(path, 'has either closes and opens, or from, to, timeZone and days');
  else if (duration(closes) === 0) wrong([...path, 'closes'], 'must be more than 0s');
  else if (last - first < MINUTE || last > DAY / 2)
    wrong(path, 'needs at least one minute between opens and closes, and at most 12h until the later one');
  return { opens: duration(opens), closes: duration(closes) };
}

/** The delay of `approve` and `resume`, in milliseconds; null: never. */
const delayOf = (given: boolean | string | undefined): number | null =>
  given === undefined || given === false ? null : given === true ? 0 : duration(given);

function stageOf(
  { percent, count, continueWhen, approval }: file.RolloutStage,
  path: Path,
  wrong: Wrong,
): NonNullable<RolloutPlan['body']['stages']>[number] {
  if ((percent === undefined) === (count === undefined)) wrong(path, 'needs either percent or count, and not both');
  return {
    ...(percent !== undefined && { percent }),
    ...(count !== undefined && { count }),
    ...(continueWhen && {
      continueWhen: {
        succeededPercent: continueWhen.succeededPercent,
        ...(continueWhen.minimumResults !== undefined && { minimumResults: continueWhen.minimumResults }),
        ...(continueWhen.soakFor !== undefined && { soakFor: Math.round(seconds(continueWhen.soakFor)) }),
      },
    }),
    ...(approval !== undefined && { approval }),
  };
}

const healthRuleOf = ({ within, ...rule }: NonNullable<file.Action['health']>[number]) => ({
  ...rule,
  ...(within !== undefined && { within: Math.round(seconds(within)) }),
});

/** Reports a time in which no device may try its networks. */
export function checkRevertAfter({ revertAfter }: file.Action, path: Path, wrong: Wrong): void {
  if (revertAfter === undefined) return;
  const whole = seconds(revertAfter);
  if (!(Number.isInteger(whole) && whole >= 30 && whole <= 3600))
    wrong([...path, 'revertAfter'], 'must be whole seconds, from 30s to 1h');
}

/** Reads the action `rollout`; reports what does not fit together. */
export function rolloutOf(action: file.Action, path: Path, wrong: Wrong): PlannedRollout {
  const {
    release,
    parameters,
    devices = {},
    stages,
    window,
    startIn,
    startAt,
    retry,
    confirm,
    health,
    abort,
    label,
  } = action;
  const { ratePerMinute, maxUnfinished, expireIn, answerWithin, supersede, continuous, preferConnected } = action;
  const { revertAfter } = action;
  const operation = action.operation ?? 'installSoftware';
  for (const member of OF_OTHERS)
    if (action[member] !== undefined)
      wrong([...path, member], 'cannot be given for rollout, which selects its devices by `devices`, and happens once');
  if (INSTALLS.includes(operation) !== (release !== undefined))
    wrong([...path, 'release'], release ? `cannot be given for ${operation}` : `is needed for ${operation}`);
  if (!INSTALLS.includes(operation) !== (parameters !== undefined))
    wrong([...path, 'parameters'], parameters ? `cannot be given for ${operation}` : `is needed for ${operation}`);
  if (confirm && !CONFIRMED.includes(operation)) wrong([...path, 'confirm'], `cannot be given for ${operation}`);
  if (revertAfter !== undefined && !REVERTIBLE.includes(operation))
    wrong([...path, 'revertAfter'], `cannot be given for ${operation}`);
  checkRevertAfter(action, path, wrong);
  if (confirm && seconds(confirm.seenAgainWithin) < LEAST_CONFIRM)
    wrong([...path, 'confirm', 'seenAgainWithin'], 'must be a minute at least');
  if (startIn !== undefined && startAt !== undefined)
    wrong([...path, 'startAt'], 'cannot be given together with startIn');
  if (typeof ratePerMinute === 'object' && ratePerMinute.from > ratePerMinute.to)
    wrong([...path, 'ratePerMinute', 'to'], 'must not be less than from');
  const shares = (stages ?? []).reduce((sum, { percent = 0 }) => sum + percent, 0);
  if (shares > 100) wrong([...path, 'stages'], 'have more than 100 percent together');
  const body: RolloutPlan['body'] = {
    operation,
    devices,
    ...(label !== undefined && { label }),
    ...(stages && { stages: stages.map((stage, at) => stageOf(stage, [...path, 'stages', at], wrong)) }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(maxUnfinished !== undefined && { maxUnfinished }),
    ...(abort && { abort: abort as NonNullable<RolloutPlan['body']['abort']> }),
    ...(retry && {
      retry: { ...retry, after: Math.round(seconds(retry.after)) } as NonNullable<RolloutPlan['body']['retry']>,
    }),
    ...(confirm && { confirm: { ...confirm, seenAgainWithin: Math.round(seconds(confirm.seenAgainWithin)) } }),
    ...(health && { health: health.map(healthRuleOf) as NonNullable<RolloutPlan['body']['health']> }),
    ...(expireIn !== undefined && { expireIn: seconds(expireIn) }),
    ...(answerWithin !== undefined && { answerWithin: seconds(answerWithin) }),
    ...(supersede !== undefined && { supersede }),
    ...(revertAfter !== undefined && { revertAfter: seconds(revertAfter) }),
    ...(continuous !== undefined && { continuous }),
    ...(preferConnected !== undefined && { preferConnected }),
  };
  return {
    after: duration(action.after ?? '0s'),
    plan: {
      body,
      ...(parameters !== undefined && { parameters: parameters as NonNullable<RolloutPlan['parameters']> }),
      ...(release && { release: releaseOf(release) }),
      ...(window && { window: windowOf(window, [...path, 'window'], wrong) }),
      ...((startAt ?? startIn) !== undefined && { startAt: startIn === undefined ? startAt! : duration(startIn) }),
      approve: delayOf(action.approve),
      resume: delayOf(action.resume),
    },
  };
}

/** Changes the number of devices of a rollout, and its speed. Its terms, and windows of the day, stay as they are. */
export function scaleRollout({ after, plan }: PlannedRollout, size: number, faster: number): PlannedRollout {
  const { window, startAt, approve, resume, body } = plan;
  const { stages, ratePerMinute, maxUnfinished, abort, retry, confirm, health } = body;
  const number = (value: number): number => Math.max(1, Math.round(value));
  const shorter = (value: number): number => Math.round(value / faster);
  const { window: _, startAt: __, ...rest } = plan;
  return {
    after: after / faster,
    plan: {
      ...rest,
      ...(window && scaledWindow(window, faster)),
      ...(startAt !== undefined && { startAt: typeof startAt === 'number' ? startAt / faster : startAt }),
      approve: approve === null ? null : approve / faster,
      resume: resume === null ? null : resume / faster,
      body: {
        ...body,
        ...(stages && {
          stages: stages.map(({ count, continueWhen, ...stage }) => ({
            ...stage,
            ...(count !== undefined && { count: number(count * size) }),
            ...(continueWhen && {
              continueWhen: {
                ...continueWhen,
                ...(continueWhen.minimumResults !== undefined && {
                  minimumResults: number(continueWhen.minimumResults * size),
                }),
                ...(continueWhen.soakFor !== undefined && { soakFor: shorter(continueWhen.soakFor) }),
              },
            }),
          })),
        }),
        ...(ratePerMinute !== undefined && { ratePerMinute: scaledRate(ratePerMinute, size, faster) }),
        ...(maxUnfinished !== undefined && { maxUnfinished: Math.min(100_000, number(maxUnfinished * size)) }),
        ...(abort && { abort: { ...abort, minimumResults: number(abort.minimumResults * size) } }),
        ...(retry && { retry: { ...retry, after: shorter(retry.after) } }),
        ...(health && {
          health: health.map(({ within, minimumDevices, ...rule }) => ({
            ...rule,
            minimumDevices: number(minimumDevices * size),
            ...(within !== undefined && { within: Math.max(LEAST_WITHIN, shorter(within)) }),
          })) as NonNullable<RolloutPlan['body']['health']>,
        }),
        ...(confirm && {
          confirm: { ...confirm, seenAgainWithin: Math.max(LEAST_CONFIRM, shorter(confirm.seenAgainWithin)) },
        }),
      },
    },
  };
}

/** A rate grows by the number of devices, so that does not depend on the speed. */
function scaledRate(
  rate: NonNullable<RolloutPlan['body']['ratePerMinute']>,
  size: number,
  faster: number,
): NonNullable<RolloutPlan['body']['ratePerMinute']> {
  const scaled = (value: number, by: number): number => Math.min(100_000, Math.max(1, Math.round(value * by)));
  if (typeof rate === 'number') return scaled(rate, size * faster);
  const { from, to, doubleAfter } = rate;
  return { from: scaled(from, size * faster), to: scaled(to, size * faster), doubleAfter: scaled(doubleAfter, size) };
}

/** A window that counts from the start. One that would be shorter than a minute is left out, because windows have minutes. */
function scaledWindow(window: Window | RelativeWindow, faster: number): Pick<RolloutPlan, 'window'> {
  if ('timeZone' in window) return { window };
  const [opens, closes] = [window.opens / faster, window.closes / faster];
  return Math.abs(closes - opens) < MINUTE ? {} : { window: { opens, closes } };
}
