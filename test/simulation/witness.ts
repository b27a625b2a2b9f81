import { DatabaseEyes } from './database-eyes.ts';
import { createErrors } from './errors.ts';
import { createInvariants } from './invariants.ts';
import { createMeetings, eventOfCall, type Meetings } from './meetings.ts';
import { SHORT } from './pace.ts';
import { isTimeRight, type Plan } from './plan.ts';

/** The facts of a world that are not in the books of the simulator. */
export interface Seen {
  /** The invariants that did not hold, each with the moment and the row that was found first. */
  readonly broken: readonly string[];
  readonly looks: number;
  readonly meetings: Meetings;
  /** The commands that a pause of their rollout may have held back. */
  readonly heldBack: ReadonlySet<number>;
}

const HELD_BACK = `SELECT transaction_id AS id FROM transactions WHERE rollout_id IN
  (SELECT rollout_id FROM rollout_entries WHERE event = 'paused')`;

/** Sees the database of a world from outside of the service: it judges it again and again, and notes what meets what. */
export function createWitness(plan: Pick<Plan, 'spells' | 'aims' | 'pace'>) {
  const eyes = new DatabaseEyes();
  const invariants = createInvariants(eyes, { isTimeRight: isTimeRight(plan) });
  const meetings = createMeetings(eyes);
  const heldBack = new Set<number>();
  const errors = createErrors(plan);
  const { judging } = plan.pace ?? SHORT;
  let next = 0;

  return {
    /** Called for each event; looks from time to time, so that a look is no event itself. */
    passed(at: number): void {
      if (at < next) return;
      next = at + judging;
      invariants.look(at);
    },
    /** Called when something happens that meets the state of the service. */
    met: (event: string): void => meetings.note(event),
    called(method: string, url: string): void {
      const event = eventOfCall(method, new URL(url).pathname);
      if (event !== undefined) meetings.note(event);
    },
    logged: errors.logged,
    /** Called when a part of the world itself is wrong. */
    mistaken: errors.mistaken,
    /** Called when the service has opened its database. */
    opened: (file: string): void => eyes.use(file),
    /** Called before the service closes its database. */
    closes: (): void => eyes.use(undefined),
    /** Called when the service is killed. */
    killed(): void {
      eyes.use(undefined);
      invariants.forget();
    },
    isIn: meetings.isIn,
    isOver: invariants.isOver,
    /** Called when all faults are over, and what was asked for had time to come to its end. */
    ends(at: number): void {
      for (const row of eyes.rows(HELD_BACK)) heldBack.add(Number(row['id']));
      invariants.look(at);
      invariants.lookAtTheEnd(at);
    },
    seen: (): Seen => ({
      broken: [...invariants.broken(), ...errors.broken()],
      looks: invariants.looks(),
      meetings: meetings.seen,
      heldBack,
    }),
  };
}

export type Witness = ReturnType<typeof createWitness>;
