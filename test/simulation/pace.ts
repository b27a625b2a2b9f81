/** How often things happen in a world that nobody asks for: they would be nearly all events of a long one. */
export interface Pace {
  /** Seconds of the keep-alive of devices; 0: they do not ping. */
  readonly keepAlive: number;
  /** The least milliseconds between two pieces of a slow look of the service, which looks for lost wake-ups. */
  readonly slowLook: number;
  /** The least milliseconds between two looks of the service at a rollout that waits, at its devices, and at its binary. */
  readonly rolloutLook: number;
  /** Milliseconds between two looks at the whole database. */
  readonly judging: number;
  /** Milliseconds between two looks at the rows that have changed; by default each look is at the whole database. */
  readonly changes?: number;
  /** More events than the world has: one with more goes round in a circle. */
  readonly mostEvents: number;
}

/** The pace of a short world. */
export const SHORT: Pace = { keepAlive: 60, slowLook: 3_000, rolloutLook: 0, judging: 2_000, mostEvents: 3_000_000 };
