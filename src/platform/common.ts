import type { Contracts } from '@lapel/schemas/contracts/contracts';
import type { Metrics } from '../metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ClockTrust } from '../runtime/clock-trust.ts';
import type { Ids } from '../runtime/ids.ts';
import type { Log } from '../runtime/log.ts';
import type { createParts } from '../runtime/parts.ts';
import type { Tracing } from '../runtime/tracing.ts';
import type { Watch } from '../runtime/watch.ts';
import type { Database } from './database/sql.ts';

/** The objects that nearly every room of the service needs. */
export interface Common {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  contracts: Contracts;
  watch: Watch;
  tracing: Tracing;
  /** Whether the clock is believed. */
  trust: ClockTrust;
}

/** The parts of the service that are started and stopped; wiring registers them. */
export type Parts = ReturnType<typeof createParts>;
