import { join } from 'node:path';

const own = (name: string): string => join(import.meta.dirname, 'scenarios', `${name}.yaml`);

/** A run of the simulator against one process of the service. */
export interface Play {
  /** The file or name of the scenario. */
  readonly scenario: string;
  readonly options?: readonly string[];
  /** Kills the process (SIGKILL) once it has stored so many commands, and starts it again after a pause. */
  readonly kill?: { readonly afterCommands: number; readonly pauseMs: number };
  /** Another run, of another developer, at the same time. Its own result does not count. */
  readonly beside?: string;
}

/** The runs in which breakages are found. Each takes 8 to 25 seconds while the service has no fault. */
export const PLAYS = {
  everyday: { scenario: own('everyday') },
  away: { scenario: own('away') },
  faulty: { scenario: own('faulty') },
  receiver: { scenario: own('receiver') },
  load: { scenario: own('load') },
  'slow-readers': { scenario: own('slow-readers') },
  rollouts: { scenario: own('rollouts') },
  advance: { scenario: own('advance') },
  programs: { scenario: own('programs') },
  contract: { scenario: own('contract') },
  connections: { scenario: own('connections') },
  neighbour: { scenario: own('beside-neighbour'), beside: own('neighbour') },
  crash: { scenario: own('crash'), kill: { afterCommands: 145, pauseMs: 300 } },
  smoke: { scenario: 'smoke', options: ['--faster', '4'] },
} as const satisfies Record<string, Play>;

export type PlayName = keyof typeof PLAYS;
