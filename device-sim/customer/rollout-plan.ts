import type { LapelClient } from '@lapel/client/lapel-client';
import { type Release, type Terms, triedFor } from './action.ts';
import type { Asked } from './entry.ts';
import { type RelativeWindow, type Window, windowFrom } from './rollout-window.ts';

export type RolloutBody = Parameters<LapelClient['startRollout']>[0]['body'];

/** A rollout that the customer will start: the body of the API, except for what only the start of the rollout decides. */
export interface RolloutPlan {
  readonly body: Omit<RolloutBody, 'parameters' | 'window' | 'startAt'>;
  readonly parameters?: RolloutBody['parameters'];
  /** The version to install. It is uploaded and distributed first. */
  readonly release?: Release;
  readonly window?: Window | RelativeWindow;
  /** When the first stage begins, in milliseconds after the start, or as a date-time. */
  readonly startAt?: number | string;
  /** Milliseconds from the beginning of a stage until the customer approves it, if it needs that. Null: never. */
  readonly approve: number | null;
  /** Milliseconds from a pause until the customer lets the rollout go on. Null: never. */
  readonly resume: number | null;
}

/** Parameters of an install or firmware command that the service makes anew at each delivery. */
export const DOWNLOAD: readonly string[] = ['url', 'expiresAt', 'size', 'sha256', 'signature', 'signatureKeyId'];

const INSTALLS: readonly string[] = ['installSoftware', 'updateFirmware'];

/** The name of the parameter that has the body of an operation, if the body is not the parameters themselves. */
const WRAPPED: Readonly<Record<string, string>> = { setWifi: 'networks', setApn: 'apns' };

/** The moment of `at` milliseconds since 1970, as the API reads it. */
const momentOf = (at: number): string => new Date(at).toISOString();

/** The body with which a rollout begins at `now` (milliseconds since 1970). `version`: the version to install. */
export function bodyOf(
  { body, parameters, window, startAt }: RolloutPlan,
  { version, now }: { version: object | undefined; now: number },
): RolloutBody {
  return {
    ...body,
    parameters: (version ?? parameters) as RolloutBody['parameters'],
    ...(window && { window: ('timeZone' in window ? window : windowFrom(now, window)) as RolloutBody['window'] & {} }),
    ...(startAt !== undefined && { startAt: typeof startAt === 'string' ? startAt : momentOf(now + startAt) }),
  };
}

/** The command that each device of a rollout should get. */
export function askedBy(body: RolloutBody): Asked {
  const { operation, parameters, expireIn, answerWithin, supersede, revertAfter } = body;
  const name = WRAPPED[operation];
  const terms: Terms = {
    ...(expireIn !== undefined && { expireIn }),
    ...(answerWithin !== undefined && { answerWithin }),
    ...(supersede && { supersede: 'true' }),
    ...(revertAfter !== undefined && { revertAfter }),
  };
  return {
    operation,
    parameters:
      name === undefined ? { ...(parameters as Asked['parameters']) } : { [name]: parameters, ...triedFor(terms) },
    ...(INSTALLS.includes(operation) && { added: DOWNLOAD }),
    terms,
  };
}
