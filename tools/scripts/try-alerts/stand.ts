import type { Faults } from './faults.ts';
import type { Prometheus } from './prometheus.ts';

/** The parts that a stand gets: a folder of its own, Prometheus, and the faults. */
export interface Stand {
  folder: string;
  prometheus: Prometheus;
  faults: Faults;
}
