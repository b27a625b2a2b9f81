import { createLapelClient, type LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import { luhnDigit } from '../fleet/device-ids.ts';
import type { CheckName } from '../promises/checks.ts';
import type { Timers } from '../timers.ts';
import { differences } from './differences.ts';
import { createFirstToken } from './first-token.ts';
import type { Ledger } from './ledger.ts';
import { createOddCalls } from './odd-calls.ts';
import type { ApplicationAccess } from './provision.ts';

/** A probe follows every twentieth action. */
const EVERY = 20;
/** A language that no action sets. */
const OTHER_LANGUAGE = 'fr';
const HOUR = 3_600_000;
/** A call that may be older than a day is not repeated: where actions are rare, its turn comes later than that. */
const REPEATED_WITHIN = 22 * HOUR;
/** The documented validity of an access token (docs/application-developers.md). */
const TOKEN_SECONDS = 3600;

/** The id of a device that the developer does not have: no id of a simulated device begins with 99. */
function foreignDevice(number: number): string {
  const digits = `99${String(number % 10 ** 12).padStart(12, '0')}`;
  return digits + luhnDigit(digits);
}

/** A call that made a transaction, with its Idempotency-Key. */
export interface Carried {
  readonly deviceId: string;
  readonly phase: string;
  readonly number: number;
  readonly transactionId: number;
  readonly idempotencyKey: string;
  /** Makes the same call with the same key; null if the operation takes no key. */
  readonly again: (() => Promise<{ transactionId: number } | undefined>) | null;
}

interface Answer {
  readonly status: number;
  readonly code?: string | undefined;
  readonly transactionId?: number | undefined;
}

/** A call that the service must refuse or must not carry out twice, with the answer that the documents promise. */
interface Probe {
  readonly name: string;
  readonly check: () => CheckName;
  readonly wanted: (carried: Carried) => Answer;
  /** Makes the probe's call after an action; undefined if the probe cannot follow that action. */
  readonly play: (carried: Carried) => Promise<unknown> | undefined;
}

/** The answer about a device that the developer does not have. */
export const UNAVAILABLE: Answer = { status: 403, code: 'DEVICE_UNAVAILABLE' };

/**
 * The status and code that a probe's call was answered with. Undefined after a 429 or 5xx, or without an answer: the
 * service was busy or away, so the probe shows nothing.
 */
export async function answerOf(call: Promise<unknown>): Promise<Answer | undefined> {
  try {
    const answer = (await call) as { transactionId?: number } | undefined;
    return { status: 200, transactionId: answer?.transactionId };
  } catch (error) {
    if (!(error instanceof LapelError) || error.status === 429 || error.status >= 500) return undefined;
    return { status: error.status, code: error.code ?? undefined };
  }
}

/**
 * Makes calls that the service must refuse, or must not carry out twice, between the actions of a customer, and
 * compares each answer with the documented one. The number of the action and the seed decide which actions are followed
 * by which probe.
 */
export function createProbes({
  lapel,
  apiUrl,
  application,
  neighbour,
  ledger,
  seed,
  timers,
}: {
  lapel: LapelClient;
  apiUrl: string;
  application: ApplicationAccess;
  /** A device of another developer; undefined if none is known. */
  neighbour: string | undefined;
  ledger: Ledger;
  seed: number;
  timers: Timers;
}) {
  const access = { baseUrl: apiUrl, ...application, attempts: 1, now: () => timers.now() };
  const reader = createLapelClient({ ...access, scopes: ['svc:device:read'] });
  const odd = createOddCalls(apiUrl, application);
  const firstToken = createFirstToken(odd, timers);
  /** A call with a key that is repeated much later, for an hour: the service forgets keys after a day. */
  let early: Carried | undefined;
  let earlyUntil = 0;
  /** How often the service was restored from a backup: a call from before has no key after it. */
  let restores = 0;
  /** The last action that made a transaction. */
  let last: Carried | undefined;
  const refusal = (status: number, code: string) => (): Answer => ({ status, code });

  const afterLongTime: Probe = {
    name: 'a call with the first token of the run',
    check: () => (firstToken.state() === 'expired' ? 'token-expired' : 'token-valid'),
    wanted: () => (firstToken.state() === 'expired' ? { status: 401, code: 'TOKEN_INVALID' } : { status: 200 }),
    play: () => (firstToken.state() === 'unsure' ? undefined : firstToken.use()),
  };
  const PROBES: readonly Probe[] = [
    {
      name: 'an Idempotency-Key that is repeated with the same request',
      check: () => 'key-repeated',
      wanted: ({ transactionId }) => ({ status: 200, transactionId }),
      play: ({ again }) => again?.(),
    },
    {
      name: 'an Idempotency-Key that is repeated with another request',
      check: () => 'key-other-request',
      wanted: refusal(422, 'IDEMPOTENCY_KEY_REUSED'),
      play: ({ deviceId, idempotencyKey, again }) =>
        again ? lapel.setLanguage({ deviceId, idempotencyKey, body: { lang: OTHER_LANGUAGE } }) : undefined,
    },
    {
      name: 'a call with a token that lacks the scope',
      check: () => 'token-scope',
      wanted: refusal(403, 'SCOPE_INSUFFICIENT'),
      play: ({ deviceId }) => reader.setLanguage({ deviceId, body: { lang: OTHER_LANGUAGE } }),
    },
    {
      name: 'a call for a device that the developer does not have',
      check: () => 'device-unknown',
      wanted: () => UNAVAILABLE,
      play: ({ number }) => lapel.readStatus({ deviceId: foreignDevice(number) }),
    },
    {
      name: 'a call with a forged token',
      check: () => 'token-forged',
      wanted: refusal(401, 'TOKEN_INVALID'),
      play: ({ deviceId }) => odd.withForgedToken(deviceId),
    },
    {
      name: 'a call with a token that was changed',
      check: () => 'token-changed',
      wanted: refusal(401, 'TOKEN_INVALID'),
      play: ({ deviceId }) => odd.withChangedToken(deviceId),
    },
    {
      name: 'a call for a device of another developer',
      check: () => 'device-foreign',
      wanted: refusal(403, 'DEVICE_UNAVAILABLE'),
      play: () => (neighbour === undefined ? undefined : lapel.readStatus({ deviceId: neighbour })),
    },
    {
      name: 'an Idempotency-Key that is repeated much later',
      check: () => 'key-later',
      wanted: () => ({ status: 200, transactionId: early?.transactionId }),
      play: () => (timers.now() < earlyUntil + REPEATED_WITHIN ? early?.again?.() : undefined),
    },
    afterLongTime,
  ];

  /** Makes the call of a probe after an action, and compares its answer. */
  async function carryOut({ name, check, wanted, play }: Probe, carried: Carried): Promise<void> {
    const { deviceId, transactionId, phase } = carried;
    const answer = wanted(carried);
    const about = check();
    const before = restores;
    const playing = play(carried);
    const found = playing && (await answerOf(playing));
    if (!found || restores !== before) return;
    ledger.look(about);
    ledger.wrong(
      { text: `the answer to ${name}`, deviceId, transactionId, phase },
      differences('answer', answer, found),
      timers.now(),
    );
  }

  /** The token endpoint says for how long its tokens are valid. */
  function judgeValidity({ deviceId, phase }: Carried, seconds: number): void {
    ledger.look('token-hour');
    if (seconds === TOKEN_SECONDS) return;
    const text = `the service says that a token is valid for ${seconds} s, and the documents say ${TOKEN_SECONDS} s`;
    ledger.violated({ deviceId, phase }, text, timers.now());
  }

  return {
    /** Follows an action, with a call if it is its turn. */
    async follow(carried: Carried): Promise<void> {
      const { number } = carried;
      last = carried;
      const seconds = await firstToken.keep();
      if (seconds !== undefined) judgeValidity(carried, seconds);
      if (number % EVERY !== seed % EVERY) return;
      const carryingOut = carryOut(PROBES[Math.floor(number / EVERY) % PROBES.length]!, carried);
      if (carried.again && timers.now() >= earlyUntil) {
        early = carried;
        earlyUntil = timers.now() + HOUR;
      }
      await carryingOut;
    },
    /** The service was restored from a backup, and may not know the call whose key is repeated later. */
    restored(): void {
      restores += 1;
      early = undefined;
    },
    /** Makes the calls that belong to the end of a run. */
    async atEnd(): Promise<void> {
      if (last) await carryOut(afterLongTime, last);
    },
  };
}
