import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** So long an address is good: a fleet that connects asks for it once, and a service that moves is found soon. */
const MEMORY_MILLISECONDS = 5000;

type Failure = NodeJS.ErrnoException | null;
type Told = (error: Failure, addresses: LookupAddress[]) => void;
type Resolve = (hostname: string, options: LookupOptions & { all: true }, told: Told) => void;

interface Question {
  readonly until: number;
  /** There when it is answered. */
  addresses: LookupAddress[] | undefined;
  readonly waiting: Told[];
}

/**
 * The addresses of a host, asked for once for all who want them at about the same time: the system resolves a few names at
 * a time only, and thousands of devices have the same one. What failed is asked for again.
 */
export function createLookup({ resolve, now }: { resolve: Resolve; now: () => number }): LookupFunction {
  const questions = new Map<string, Question>();

  function ask(key: string, hostname: string, options: LookupOptions): Question {
    const question: Question = { until: now() + MEMORY_MILLISECONDS, addresses: undefined, waiting: [] };
    questions.set(key, question);
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) questions.delete(key);
      else question.addresses = addresses;
      for (const told of question.waiting.splice(0)) told(error, addresses);
    });
    return question;
  }

  return (hostname, options, callback) => {
    const key = `${hostname} ${options.family ?? 0} ${options.hints ?? 0}`;
    const before = questions.get(key);
    const question = before && now() < before.until ? before : ask(key, hostname, options);
    const told: Told = (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || options.all) callback(error, addresses ?? []);
      else callback(null, first?.address ?? '', first?.family ?? 0);
    };
    const { addresses } = question;
    // Never before this returns: who asks is not ready for that.
    if (addresses) queueMicrotask(() => told(null, addresses));
    else question.waiting.push(told);
  };
}

/** The one of all connections of this process. */
export const sharedLookup = createLookup({ resolve: lookUp, now: () => performance.now() });
