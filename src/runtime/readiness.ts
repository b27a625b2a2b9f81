import type { Clock } from './clock.ts';

/** Returns undefined when a part of the service can do its work, else the reason, in words for people. */
type Check = () => string | undefined | Promise<string | undefined>;

interface Problem {
  part: string;
  reason: string;
}

export type Readiness = ReturnType<typeof createReadiness>;

// Milliseconds that a request for `/readyz` waits for the check of one part.
const CHECK_TIMEOUT_MS = 2_000;

/**
 * Decides whether a load balancer should send requests to this process (`/readyz`). Each necessary part of the service
 * has a check.
 */
export function createReadiness({ clock }: { clock: Pick<Clock, 'after'> }) {
  const checks = new Map<string, Check>();
  const notes = new Map<string, () => string | undefined>();

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
    /** Sets the check of a part, in place of an earlier one. */
    set(part: string, check: Check): void {
      checks.set(part, check);
    },

    /** Sets the check of a part whose trouble a person must look at, while the process can do its work. */
    note(part: string, check: () => string | undefined): void {
      notes.set(part, check);
    },

    /** The parts that a person must look at, with reasons. */
    notes: (): Problem[] =>
      [...notes].flatMap(([part, check]) => {
        const reason = check();
        return reason === undefined ? [] : [{ part, reason }];
      }),

    /** The parts that have a check. */
    parts: (): string[] => [...checks.keys()],

    /**
     * Runs all checks at once. Returns the parts that cannot do their work, with reasons; the list is empty when all
     * can.
     */
    async problems(): Promise<Problem[]> {
      const parts = [...checks].map(async ([part, check]) => ({ part, reason: await judge(check) }));
      return (await Promise.all(parts)).filter((one): one is Problem => one.reason !== undefined);
    },
  };
}
