import type { DatabaseEyes } from './database-eyes.ts';
import { GOES_OUT } from './promised-rows.ts';
import { BEGIN } from './time.ts';

/** A command that is written to a connection, as its device reads it. */
interface Written {
  readonly transactionId: number;
  readonly operation: string;
  readonly attempt: number;
}

/** Milliseconds in which a PUBACK is stored. Time in which the disk is full, or the service stands still, does not count. */
const STORED_WITHIN = 12_000;
/** Milliseconds that a unit of work may take before its commit. */
const UNIT_TAKES = 100;
/** Milliseconds in which a command is written to a device that is connected and has room; the same time does not count. */
const WRITTEN_WITHIN = 20_000;
/** The most commands of a device without a PUBACK or an answer (README.md). */
const MOST_IN_FLIGHT = 16;
const LITTLE_ROOM = 3;

const GOES = `SELECT completed_at AS "endedAt", attempts, CASE WHEN delivered_at IS NULL THEN
  (SELECT MAX(e.at) FROM rollouts r JOIN rollout_entries e ON e.rollout_id = r.rollout_id AND e.event = 'paused'
    WHERE r.rollout_id = t.rollout_id AND r.state = 'paused') END AS "heldAt"
  FROM transactions t WHERE transaction_id = :id`;
/** The commands and cancels that a device has to hear of now. */
const DUE = `SELECT transaction_id AS id, completed_at IS NOT NULL AS "isCancel" FROM transactions t WHERE device_id = :deviceId
  AND due = 1 AND (ends_at IS NULL OR ends_at > :now) AND (completed_at IS NOT NULL OR delivered_at IS NOT NULL
    OR (${GOES_OUT}))`;
/** The commands that have an end, and are not ended. */
const TIMED = `SELECT transaction_id AS id, attempts, ends_at AS "endsAt", delivered_at AS "deliveredAt" FROM transactions
  WHERE due = 1 AND ends_at IS NOT NULL AND completed_at IS NULL`;
const ATTEMPTS = `SELECT attempts, delivered_at AS "deliveredAt" FROM transactions WHERE transaction_id = :id`;
const STATE = `SELECT status, error_code AS code, completed_at AS "completedAt", delivered_at AS "deliveredAt", due, late
  FROM transactions WHERE transaction_id = :id`;

interface State {
  readonly status: string;
  readonly code: string | null;
  readonly completedAt: number | null;
  readonly deliveredAt: number | null;
  readonly due: number;
  readonly late: string | null;
}

interface Parts {
  eyes: DatabaseEyes;
  /** Milliseconds of the world. */
  now(): number;
  /** Until when the service knows what the database says: the effects of later commits may not have run. */
  knownUntil(): number;
  isTimeRight: boolean;
  /** Whether the disk is full, or the service stands still: such time does not count. */
  isHeldUp(): boolean;
  inFlight?: number | undefined;
  broken(promise: string, fact: object): void;
}

/** Commands by their numbers, cancels by their negative ones. */
interface Connection {
  readonly room: Set<number>;
  readonly written: Set<number>;
  /** Those that are due and not written, each since when. */
  readonly waiting: Map<number, number>;
  /** When the last command was written. */
  wroteAt: number;
}

export type CommandWitness = ReturnType<typeof createCommandWitness>;

/**
 * Hears of each command that the service writes, and of what it hears of devices, and compares that with the database.
 * Nobody else can: the times in the database are those of claims and commits.
 */
export function createCommandWitness({
  eyes,
  now,
  knownUntil,
  isTimeRight,
  isHeldUp,
  inFlight = MOST_IN_FLIGHT,
  broken,
}: Parts) {
  /** The commands without an end that were written once. */
  const sent = new Set<number>();
  /** The commands and cancels whose PUBACKs this program of the service has heard, and when, by its clock and the world's. */
  const acknowledged = new Map<number, { at: number; since: number }>();
  const cancels = new Map<number, number>();
  /** The commands whose answers were stored since the last look. */
  const answered = new Set<number>();
  const connections = new Map<string, Connection>();
  /** The commands that had an end at the last commit. */
  let timed = new Map<number, { attempts: number; endsAt: number; isDelivered: boolean }>();
  /** The attempts that were counted after the ends of their commands, by command. */
  const claimedLate = new Map<number, number>();

  function judgeWrite({ transactionId: id, attempt }: Written): void {
    if (!eyes.isOpen) return;
    const [row] = eyes.rows(GOES, { id });
    // A command that was never published can be taken back, by a commit that the disk does not have yet.
    if (!row || Number(row['attempts']) < attempt) broken('an attempt is counted before it is made', { id, attempt });
    else if (isKnown(row['endedAt'])) broken('what has ended is not sent', { id, attempt, ...row });
    else if (claimedLate.get(id) === attempt) broken('what is over its time is not sent', { id, attempt, ...row });
    else if (isKnown(row['heldAt'])) broken('what a pause holds is not sent', { id, attempt, ...row });
  }

  /** Whether the service knows of something that it has stored. */
  const isKnown = (at: unknown): boolean =>
    isTimeRight && typeof at === 'number' && at < (BEGIN + knownUntil() - 1) * 1000;

  /** Notes what a connected device waits for, although it has room. */
  function judgeConnection(deviceId: string, { room, written, waiting, wroteAt }: Connection): void {
    const due = eyes.rows(DUE, { deviceId, now: (BEGIN + now()) * 1000 });
    const left = room.size < inFlight ? due.map((row) => (row['isCancel'] === 1 ? -1 : 1) * Number(row['id'])) : [];
    const unwritten = new Set(isHeldUp() ? [] : left.filter((key) => !written.has(key)));
    for (const key of waiting.keys()) if (!unwritten.has(key)) waiting.delete(key);
    for (const key of unwritten) {
      const since = waiting.get(key) ?? now();
      waiting.set(key, since);
      // Where few commands at a time have room, each waits for the commits of those before it.
      if (now() > (inFlight <= LITTLE_ROOM ? Math.max(since, wroteAt) : since) + WRITTEN_WITHIN)
        broken('what is due is written', { deviceId, key, since });
    }
  }

  const stateOf = (id: number): State | undefined => eyes.rows(STATE, { id })[0] as State | undefined;

  function judgeAcknowledged(id: number, { at, since }: { at: number; since: number }): void {
    const state = stateOf(id);
    // The time of a PUBACK may also be stored after the end of its command.
    if (state?.code === 'EXPIRED' && state.completedAt !== null && state.completedAt > at)
      broken('a command with a PUBACK does not expire', { id, at, ...state });
    if (state === undefined || state.deliveredAt !== null || state.completedAt !== null) acknowledged.delete(id);
    else if (now() > since + STORED_WITHIN) {
      acknowledged.delete(id);
      broken('a PUBACK is stored', { id, at, ...state });
    }
  }

  /** The program of the service has ended: what it had in memory is lost. */
  function forget(): void {
    timed.clear();
    claimedLate.clear();
    acknowledged.clear();
    cancels.clear();
    connections.clear();
  }

  return {
    /** A device has connected. The room of its former connection does not count any more. */
    connected(deviceId: string) {
      const connection: Connection = { room: new Set(), written: new Set(), waiting: new Map(), wroteAt: now() };
      const { room, written } = connection;
      connections.set(deviceId, connection);
      return {
        /** A command is written. Returns its key. */
        wrote(command: Written): number {
          const isCancel = command.operation === 'cancel';
          const key = isCancel ? -command.transactionId : command.transactionId;
          room.add(key);
          connection.wroteAt = now();
          written.add(key);
          // A service that ends still writes for a moment. Its connections are forgotten here, so no answer frees their room.
          if (room.size > inFlight && connections.get(deviceId) === connection)
            broken('a device has room for its commands', { deviceId, commands: [...room] });
          if (isCancel) return key;
          judgeWrite(command);
          sent.add(command.transactionId);
          return key;
        },
        freed: (key: number): unknown => room.delete(key),
        closed(): void {
          if (connections.get(deviceId) === connection) connections.delete(deviceId);
        },
      };
    },
    /** The device has answered a command. */
    heard(deviceId: string, id: number): void {
      for (const key of [id, -id]) connections.get(deviceId)?.room.delete(key);
    },
    /** `at`: microseconds of the clock of the service. */
    acknowledged(id: number, at: number): void {
      if (!acknowledged.has(id)) acknowledged.set(id, { at, since: now() });
    },
    cancelAcknowledged(id: number): void {
      if (!cancels.has(id)) cancels.set(id, now());
    },
    /** An answer of a device is stored, so that the device may forget it. */
    answered: (id: number): unknown => answered.add(id),
    /** Compares the attempts before and after a commit: those of commands whose time was over must not rise. */
    committed(): void {
      if (!isTimeRight || !eyes.isOpen) return;
      for (const [id, { attempts, endsAt, isDelivered }] of timed) {
        if (endsAt > (BEGIN + now() - UNIT_TAKES) * 1000) continue;
        const [row] = eyes.rows(ATTEMPTS, { id });
        const counted = Number(row?.['attempts'] ?? attempts);
        // A PUBACK that is stored with the claim of a new connection saves the command from its end.
        const isSaved = !isDelivered && typeof row?.['deliveredAt'] === 'number';
        // It may be the attempt of a cancel, which is told apart when it is written.
        if (counted > attempts && !isSaved) claimedLate.set(id, counted);
      }
      timed = new Map(
        eyes.rows(TIMED).map((row) => [
          Number(row['id']),
          {
            attempts: Number(row['attempts']),
            endsAt: Number(row['endsAt']),
            isDelivered: row['deliveredAt'] !== null,
          },
        ]),
      );
    },
    forget,
    /** A backup has taken the place of the data: what was sent since may be gone, and PUBACKs of the end as well. */
    restored(): void {
      forget(); // a service that ends stores the PUBACKs that it hears meanwhile, in the data that are gone
      sent.clear();
      answered.clear();
    },
    look(): void {
      if (isTimeRight) for (const [deviceId, connection] of connections) judgeConnection(deviceId, connection);
      for (const id of answered) if (stateOf(id)?.late === '') broken('a late answer is kept', { id, ...stateOf(id) });
      answered.clear();
      for (const [id, mark] of acknowledged) {
        if (isHeldUp()) acknowledged.set(id, { ...mark, since: now() });
        judgeAcknowledged(id, mark);
      }
      for (const id of isHeldUp() ? cancels.keys() : []) cancels.set(id, now());
      for (const [id, since] of cancels) {
        const isStored = stateOf(id)?.due !== 1;
        if (!isStored && now() > since + STORED_WITHIN) broken('the PUBACK of a cancel is stored', { id });
        if (isStored || now() > since + STORED_WITHIN) cancels.delete(id);
      }
      for (const id of sent) {
        const state = stateOf(id);
        if (state === undefined) broken('what was sent stays', { id });
        if (state === undefined || state.completedAt !== null) sent.delete(id);
      }
    },
  };
}
