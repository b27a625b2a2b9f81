import type { Attempts } from '../trial/attempts.ts';
import { tryExpressions } from './expressions.ts';
import type { Prometheus } from './prometheus.ts';
import { alertNames } from './rules.ts';
import { until } from './until.ts';

interface Fault {
  /** The alerts that the fault makes fire. */
  alerts: readonly string[];
  /** The fault, in a sentence. */
  fault: string;
  make(): unknown;
  /** Ends the fault, so that the alerts end. */
  end(): unknown;
}

export type Faults = ReturnType<typeof createFaults>;

/** Makes faults, and remembers which alerts have fired. */
export function createFaults(prometheus: Prometheus, { attempt }: Pick<Attempts, 'attempt'>) {
  const tried = new Set<string>();

  /** Resolves when none of the alerts fires. */
  async function quiet(alerts: readonly string[]): Promise<void> {
    let firing = alerts;
    await until(
      () => `${firing.join(', ')} ends`,
      async () => {
        const now = await prometheus.alerts();
        firing = alerts.filter((alert) => now.has(alert));
        return firing.length === 0 ? true : undefined;
      },
    );
  }

  /** Resolves when each of the alerts has fired, together or one after the other. */
  async function fired(alerts: readonly string[]): Promise<void> {
    let silent = alerts;
    await until(
      () => `${silent.join(', ')} fires`,
      async () => {
        const now = await prometheus.alerts();
        silent = silent.filter((alert) => !now.has(alert));
        return silent.length === 0 ? true : undefined;
      },
    );
  }

  return {
    /**
     * Makes a fault, sees the alerts fire that did not fire before, ends the fault, and sees the alerts end. An alert
     * that has just fired for another fault may still end before.
     */
    async try({ alerts, fault, make, end }: Fault): Promise<void> {
      for (const alert of alerts) tried.add(alert);
      await attempt(`${alerts.join(', ')}: ${fault}`, async () => {
        await quiet(alerts);
        const began = performance.now();
        try {
          await make();
          await fired(alerts);
        } finally {
          await end();
        }
        const seconds = ((performance.now() - began) / 1000).toFixed(1);
        await quiet(alerts);
        return `fires after ${seconds} s`;
      });
    },
    /** Sees the alert end that fires while Prometheus has no target: the first one has just come. */
    async firstTarget(): Promise<void> {
      await attempt('LapelUnwatched ends with the first target', () => quiet(['LapelUnwatched']));
    },
    /** Asks Prometheus for everything that a dashboard shows, and looks for the metrics of the process. */
    async expressions(admin: string): Promise<void> {
      await attempt('Prometheus answers the expressions of the dashboards', () => tryExpressions(prometheus, admin));
    },
    /** The alerts for which no fault was made. */
    untried: (): string[] => alertNames().filter((name) => !tried.has(name)),
  };
}
