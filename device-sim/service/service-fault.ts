/** The faults of the service itself, each with its meaning. */
export const SERVICE_FAULTS = {
  restart: 'the service is told to end (SIGTERM), and starts again after `lasts`',
  kill: 'the service is killed (SIGKILL), and starts again after `lasts`',
  freeze: 'the service stands still (SIGSTOP) for the time of `lasts`',
} as const satisfies Record<string, string>;

export type ServiceFault = keyof typeof SERVICE_FAULTS;

/** One fault of the service in a phase. */
export interface PlannedServiceFault {
  readonly fault: ServiceFault;
  /** The node that has the fault, from 1; null: all nodes. */
  readonly node: number | null;
  /** Milliseconds from the beginning of the phase. */
  readonly after: number;
  /** Milliseconds for which the service is away. */
  readonly lasts: number;
}

/** The time that a restored service does not know: from its backup to the moment at which it ended. */
export interface LostTime {
  /** Milliseconds ago at which the backup was begun. */
  readonly begunAgo: number;
}

/** Makes the service fail. */
export interface ServiceControl extends AsyncDisposable {
  /** A sentence for each time that a node ended although nobody told it to; null if that cannot be known. */
  readonly crashes: readonly string[] | null;
  /** Resolves to the first of them. */
  readonly crashed: Promise<string>;
  /** Resolves when the fault is over: the service was started again, or goes on. */
  play(fault: Omit<PlannedServiceFault, 'after'>): Promise<void>;
  /** Calls back whenever a backup has taken the place of the service's data, before the service starts on it. */
  onRestored?(told: (lost: LostTime) => void): void;
  /** Calls back when the service ends by another hand than that of the scenario, and when it is back. */
  onAway?(told: (isAway: boolean) => void): void;
}
