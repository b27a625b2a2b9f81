import { createHash } from 'node:crypto';
import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createBackgroundWork } from '../../platform/database/looks.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { AlarmReceiver } from '../../runtime/alarm-settings.ts';
import { boundedRequest } from '../../runtime/bounded-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { createSigner } from '../webhooks/signature.ts';
import { type AlarmMessage, bodyOf } from './alarm-message.ts';
import { listTold, removeTold, saveTold, type ToldAlarm } from './told-repository.ts';

const MINUTE = 60_000_000;
/** Milliseconds between two looks at the alarms. */
const LOOK_MS = 60_000;
/** Milliseconds that the receiver may take for its answer, and the most bytes of it. */
const ANSWER_MS = 10_000;
const MOST_BYTES = 64 * 1024;
/** Microseconds after which the receiver is told again of an alarm that lasts, by its level. */
const AGAIN: Readonly<Record<string, Micros>> = { critical: 4 * 60 * MINUTE, warning: 24 * 60 * MINUTE };

/** Minutes for which an alarm of a kind is found before it is told, as `for` of its alert; by default two looks. */
const LASTS: Readonly<Record<string, number>> = { devicesGone: 5, webhooksLate: 5, receivers: 15 };
/** Microseconds after the start of the process in which nothing says that these are over: they are found late. */
const FOUND_LATE: Readonly<Record<string, Micros>> = { retention: 7 * 60 * MINUTE, removalStopped: 60 * MINUTE };

/** An alarm as the service finds it. Those of one kind are one message, whichever nodes they are about. */
export interface FoundAlarm {
  kind: string;
  level: string;
  text: string;
  nodeId: string | null;
}

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'alarmMessages'>;
  receiver: AlarmReceiver;
  /** Finds the alarms of now, the critical first; `isWhole`: everything could be looked at. */
  find(): Promise<{ alarms: readonly FoundAlarm[]; isWhole: boolean }>;
  /** True on one node only, and always without a cluster. */
  leads(): boolean;
}

/** The outcome of an attempt to tell the receiver: the status of its answer, or why there was none. */
export interface AlarmAttempt {
  at: Micros;
  status: number | null;
  error: string | null;
}

/** A receiver that answers may refuse one message and take the next; one that does not answer is asked at the next look. */
const isAway = ({ status }: AlarmAttempt): boolean => status === null;

export type AlarmSender = ReturnType<typeof createAlarmSender>;

/** Those of one kind in one line: the worst level, and all sentences. Parts of the service are kinds of their own. */
function gathered(alarms: readonly FoundAlarm[]): Map<string, Pick<ToldAlarm, 'level' | 'text'>> {
  const found = new Map<string, Pick<ToldAlarm, 'level' | 'text'>>();
  for (const { kind, level, text, nodeId } of alarms) {
    if (level === 'info') continue;
    const name = kind === 'part' ? `part ${text.split(':', 1)[0]}` : kind;
    const words = nodeId === null ? text : `${text} (${nodeId})`;
    const known = found.get(name);
    found.set(name, known ? { level: known.level, text: `${known.text} ${words}` } : { level, text: words });
  }
  return found;
}

/**
 * Tells the receiver of LAPEL_ALARM_URL of alarms, on the node that leads: when one begins or becomes worse, again while
 * it lasts, and once when it is over. The database knows what the receiver was told, so neither a restart nor another
 * leading node tells it again, and no end is forgotten. An alarm that the receiver does not take is told at the next look.
 */
export function createAlarmSender(parts: Parts) {
  const { database, clock, log, metrics, receiver, find, leads } = parts;
  const { url, key, template } = receiver;
  const sign = createSigner();
  const stopped = new AbortController();
  let last: AlarmAttempt | null = null;
  let failures = 0;
  let hasBegun = false;
  let led = false;
  const begunAt = clock.now();
  /** Since when each alarm is found, by its name. */
  let since = new Map<string, Micros>();
  let known = new Map<string, ToldAlarm>();
  /** The rows that could not be stored yet, because the database is away. */
  const unsaved = new Map<string, ToldAlarm | null>();
  /** The alarms that were over at the last look: one that is away for a moment only is not over. */
  let over: ReadonlySet<string> = new Set();
  const background = createBackgroundWork({
    clock,
    log,
    run: look,
    retryMs: LOOK_MS,
    failed: 'the alarms could not be looked up for their receiver; trying again',
  });

  /**
   * Sends one message. Throws nothing: the attempt says how it went. A message that is repeated because its answer was lost
   * has the same id; `before`: when the receiver was told of the same alarm before.
   */
  async function send(message: AlarmMessage, before = 0): Promise<AlarmAttempt> {
    const at = clock.now();
    const body = bodyOf(message, at, template);
    const { type, name, level, since: from } = message;
    const id = createHash('sha256')
      .update(JSON.stringify([type, name, level, from, before]))
      .digest('hex');
    // The receiver compares the time with its own, so it is that of the machine.
    const signature = key === null ? {} : sign(`alm_${id.slice(0, 32)}`, clock.wall(), body, [key]);
    try {
      const { status } = await boundedRequest(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
          ...signature,
        },
        body,
        signal: AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_MS)]),
        mostBytes: MOST_BYTES,
      });
      last = { at, status, error: status < 300 ? null : `the receiver answered ${status}` };
    } catch (error) {
      // The address may be a secret, and so must not be in the text of an error.
      const { name, code } = error as NodeJS.ErrnoException;
      last = { at, status: null, error: name === 'TimeoutError' ? 'the receiver did not answer' : (code ?? name) };
    }
    metrics.alarmMessages.inc({ outcome: last.error === null ? 'taken' : 'failed' });
    if (last.error === null && failures > 0) log.info({ failures }, 'the receiver of alarms takes them again');
    if (last.error !== null && failures === 0) log.warn({ reason: last.error }, 'the receiver of alarms takes none');
    failures = last.error === null ? 0 : failures + 1;
    return last;
  }

  /**
   * The alarms that the receiver was told of; undefined while the database is away. Rows that cannot be stored then are
   * stored later.
   */
  async function findTold(): Promise<ToldAlarm[] | undefined> {
    try {
      for (const [name, row] of unsaved) {
        await database.transact((unit) => (row ? saveTold(unit, row) : removeTold(unit, name)), { pace: 'soon' });
        unsaved.delete(name);
      }
      return await listTold(database.read);
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      return undefined;
    }
  }

  /** Notes what the receiver has taken; null: that the alarm is over. */
  async function note(name: string, row: ToldAlarm | null): Promise<void> {
    unsaved.set(name, row);
    if (row) known.set(name, row);
    else known.delete(name);
    await findTold();
  }

  async function look(): Promise<Millis> {
    if (!hasBegun) {
      hasBegun = true; // while the service starts, nothing can be said of it
      return LOOK_MS;
    }
    const told = await findTold();
    // While the database is away, the node that led tells that: nobody can lead.
    if (told) {
      known = new Map(told.map((one) => [one.name, one]));
      led = leads();
    }
    if (!led) return LOOK_MS;
    const found = await find();
    const alarms = gathered(found.alarms);
    const now = clock.now();
    since = new Map([...alarms.keys()].map((name) => [name, since.get(name) ?? now]));
    for (const [name, { level, text }] of alarms) {
      const before = known.get(name);
      const isNew = before === undefined && now - (since.get(name) ?? now) < (LASTS[name] ?? 1) * MINUTE;
      const isWorse = before?.level === 'warning' && level === 'critical';
      const isBetter = before?.level === 'critical' && level === 'warning';
      const toldAt = Math.min(before?.toldAt ?? now, now);
      if (before && isBetter) await note(name, { ...before, level, text, toldAt });
      if (isNew || (before && !isWorse && now - toldAt < (AGAIN[level] ?? Number.POSITIVE_INFINITY))) continue;
      const from = before?.since ?? since.get(name) ?? now;
      const message = { type: 'alarm.firing', name, level, text, since: from } as const;
      const attempt = await send(message, before?.toldAt);
      if (isAway(attempt)) return LOOK_MS;
      if (attempt.error === null) await note(name, { name, level, text, since: from, toldAt: now });
    }
    if (!found.isWhole) return LOOK_MS;
    const gone = [...known.values()].filter(
      ({ name }) => !alarms.has(name) && now - begunAt >= (FOUND_LATE[name] ?? 0),
    );
    for (const { name, level, text, since: from } of gone) {
      if (!over.has(name)) continue;
      const attempt = await send({ type: 'alarm.resolved', name, level, text, since: from });
      if (isAway(attempt)) break;
      if (attempt.error === null) await note(name, null);
    }
    over = new Set(gone.map(({ name }) => name));
    return LOOK_MS;
  }

  return {
    start: background.start,
    idle: background.idle,

    /** Sends a message that is a test only. */
    test: (): Promise<AlarmAttempt> =>
      send({ type: 'alarm.test', name: 'test', level: 'warning', text: 'This is a test.', since: clock.now() }),

    /** The host of the receiver, and how the last attempt went; null before the first. */
    state: (): { host: string; isSigned: boolean; last: AlarmAttempt | null } => ({
      host: new URL(url).host,
      isSigned: key !== null,
      last,
    }),

    async [Symbol.asyncDispose](): Promise<void> {
      stopped.abort();
      await background.stop();
    },
  };
}
