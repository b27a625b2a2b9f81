import type { Clock } from './clock.ts';

/** Returns the reason why a part cannot do its work now, for people; undefined when it can. */
type Check = () => string | undefined | Promise<string | undefined>;

interface Problem {
  part: string;
  reason: string;
}

export type Readiness = ReturnType<typeof createReadiness>;

// Milliseconds that a probe waits for the check of one part.
const CHECK_TIMEOUT_MS = 2_000;

/** Decides whether this process should get requests (`/readyz`): each necessary part has a check of its own. */
export function createReadiness({ clock }: { clock: Pick<Clock, 'after'> }) {
  const checks = new Map<string, Check>();

  async function judge(check: Check): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = clock.after(CHECK_TIMEOUT_MS, () => resolve('does not answer'));
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

    /** The parts that are not ready, with reasons; empty when requests are welcome. All checks run at once. */
    async problems(): Promise<Problem[]> {
      const parts = [...checks].map(async ([part, check]) => ({ part, reason: await judge(check) }));
      return (await Promise.all(parts)).filter((one): one is Problem => one.reason !== undefined);
    },
  };
}
