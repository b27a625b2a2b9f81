import type { Clock } from './clock.ts';

/** Why a part cannot do its work now, for people; undefined when it can. */
type Check = () => string | undefined | Promise<string | undefined>;

interface Problem {
  part: string;
  reason: string;
}

export type Readiness = ReturnType<typeof createReadiness>;

// Milliseconds. A probe waits no longer for a part.
const PATIENCE = 2_000;

/** Whether requests should be sent here (`/readyz`): the parts that it takes, each with a check of its own. */
export function createReadiness({ clock }: { clock: Pick<Clock, 'after'> }) {
  const checks = new Map<string, Check>();

  async function judge(check: Check): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = clock.after(PATIENCE, () => resolve('does not answer'));
    try {
      return await Promise.race([check(), promise]);
    } catch (error) {
      return (error as Error).message;
    } finally {
      cancel();
    }
  }

  return {
    /** Adds a part, or replaces its check. */
    set(part: string, check: Check): void {
      checks.set(part, check);
    },

    /** What is not ready, all parts asked at once; none when requests are welcome. */
    async problems(): Promise<Problem[]> {
      const parts = [...checks].map(async ([part, check]) => ({ part, reason: await judge(check) }));
      return (await Promise.all(parts)).filter((one): one is Problem => one.reason !== undefined);
    },
  };
}
