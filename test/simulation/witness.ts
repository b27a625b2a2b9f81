import { createCommandWitness } from './command-witness.ts';
import { DatabaseEyes } from './database-eyes.ts';
import { createErrors } from './errors.ts';
import { createInvariants } from './invariants.ts';
import { createMeetings, eventOfCall, type Meetings } from './meetings.ts';
import { SHORT } from './pace.ts';
import type { Phase } from './phases.ts';
import { isFarAhead, isTimeRight, type Plan } from './plan.ts';
import { world } from './world.ts';

/** The facts of a world that are not in the books of the simulator. */
export interface Seen {
  /** The invariants that did not hold, each with the moment and the row that was found first. */
  readonly broken: readonly string[];
  readonly looks: number;
  readonly meetings: Meetings;
  /** The commands that a pause of their rollout may have held back. */
  readonly heldBack: ReadonlySet<number>;
  /** The highest number of a command that there was at a restore; 0 without one. */
  readonly takenBack: number;
}

const HELD_BACK = `SELECT transaction_id AS id FROM transactions WHERE rollout_id IN
  (SELECT rollout_id FROM rollout_entries WHERE event = 'paused')`;

/** Sees the database of a world from outside of the service: it judges it again and again, and notes what meets what. */
export function createWitness(plan: Pick<Plan, 'spells' | 'aims' | 'pace' | 'inFlight'>) {
  const eyes = new DatabaseEyes();
  const { inFlight } = plan;
  const invariants = createInvariants(eyes, {
    isTimeRight: isTimeRight(plan),
    isFarAhead: isFarAhead(plan),
    inFlight,
  });
  const meetings = createMeetings(eyes);
  const heldBack = new Set<number>();
  const errors = createErrors(plan);
  const { mayFail } = errors;
  const { time, logs, disk } = world();
  const broken = (promise: string, fact: object): void => invariants.note(promise, time.now, fact);
  const commands = createCommandWitness({
    eyes,
    inFlight,
    now: () => time.now,
    knownUntil: () => Math.min(...logs.values().map((log) => log.knownUntil())),
    isTimeRight: isTimeRight(plan),
    isHeldUp: () => disk.isFull || time.now < frozenUntil,
    broken,
  });
  const { judging, changes = judging } = plan.pace ?? SHORT;
  let next = 0;
  let nextChanges = 0;
  let last = 0;
  let frozenUntil = 0;
  let highest = 0;
  let takenBack = 0;

  /** Notes which commands wait, and the highest number, at each end of the service: a backup may later take its data's place. */
  function noteCommands(): void {
    if (!eyes.isOpen) return;
    for (const row of eyes.rows(HELD_BACK)) heldBack.add(Number(row['id']));
    highest = Number(eyes.rows('SELECT MAX(transaction_id) AS id FROM transactions')[0]?.['id'] ?? 0);
  }

  return {
    /** Called for each event; looks from time to time, so that a look is no event itself. */
    passed(at: number): void {
      if (at < next && at < nextChanges) return;
      if (at >= next) {
        next = at + judging;
        invariants.look(at);
        if (eyes.isOpen) commands.look();
      } else invariants.lookAtChanges(at, last);
      nextChanges = at + changes;
      last = at;
    },
    /** Called when something happens that meets the state of the service. */
    met: (event: string): void => meetings.note(event, time.now),
    called(method: string, url: string): void {
      const event = eventOfCall(method, new URL(url).pathname);
      if (event !== undefined) meetings.note(event, time.now);
    },
    commands,
    broken,
    logged: errors.logged,
    /** Called when a part of the world itself is wrong. */
    mistaken: errors.mistaken,
    /** Called when the service has opened its database. */
    opened: (file: string): void => eyes.use(file),
    /** Called when the service stands still until a moment of the world. */
    frozen(until: number): void {
      frozenUntil = until;
    },
    /** Called before the service closes its database. */
    closes(): void {
      noteCommands();
      commands.look();
      commands.forget();
      eyes.use(undefined);
    },
    /** Called when the service is killed. */
    killed(): void {
      frozenUntil = 0;
      noteCommands();
      commands.look();
      commands.forget();
      eyes.use(undefined);
      invariants.forget();
    },
    /** Called when a backup has taken the place of the data. */
    restored(): void {
      takenBack = highest;
      invariants.restored(time.now);
      commands.restored();
      errors.restored();
    },
    /** The number of attempts of webhooks that the service has stored. */
    attempts: (): number => Number(eyes.rows('SELECT COALESCE(SUM(attempts), 0) AS n FROM deliveries')[0]?.['n'] ?? 0),
    /** Called when somebody has looked at a restored service, which had to hold its webhooks. */
    heldWebhooks(before: number, after: number): void {
      if (after > before)
        errors.mistaken(`no webhook is sent while they are held: ${after - before} attempts were made`);
    },
    /** Called when a service has started on a backup, with the rollouts that ran in it: each must be paused by then. */
    startedAgain(ran: readonly string[]): void {
      const paused = eyes
        .rows(
          `SELECT rollout_id AS id FROM rollout_entries
             WHERE reason = 'DATABASE_RESTORED' AND at >= (SELECT begun_at FROM lives)`,
        )
        .map(({ id }) => String(id));
      const left = ran.filter((id) => !paused.includes(id));
      if (left.length > 0 && !mayFail)
        errors.mistaken(`rollouts are paused after a restore: ${left.join(', ')} run on`);
    },
    /** Whether so many devices are activated. */
    hasActivated: (devices: number): boolean =>
      eyes.rows(`SELECT 1 FROM devices WHERE activation = 'activated'`).length >= devices,
    isIn: (phase: Phase): boolean => meetings.isIn(phase, time.now),
    isOver: invariants.isOver,
    /** Called when all faults are over, and what was asked for had time to come to its end. */
    ends(at: number): void {
      noteCommands();
      invariants.look(at);
      invariants.lookAtTheEnd(at);
    },
    seen: (): Seen => ({
      broken: [...invariants.broken(), ...errors.broken()],
      looks: invariants.looks(),
      meetings: meetings.seen,
      heldBack,
      takenBack,
    }),
  };
}

export type Witness = ReturnType<typeof createWitness>;
