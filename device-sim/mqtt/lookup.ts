import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * How long an address is used again without another lookup: long enough for a whole fleet to connect, short enough to
 * find a service that has moved.
 */
const MEMORY_MILLISECONDS = 5000;

type Failure = NodeJS.ErrnoException | null;
type Told = (error: Failure, addresses: LookupAddress[]) => void;
type Resolve = (hostname: string, options: LookupOptions & { all: true }, told: Told) => void;

interface Question {
  readonly until: number;
  /** The addresses of the host; undefined until the lookup is answered. */
  addresses: LookupAddress[] | undefined;
  readonly waiting: Told[];
}

/**
 * Looks up each host once for all callers at about the same time: the system resolves only a few names at a time, and
 * thousands of devices use the same one. A failed lookup is repeated.
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
    // Never calls back before it returns, because callers are not ready for that.
    if (addresses) queueMicrotask(() => told(null, addresses));
    else question.waiting.push(told);
  };
}

/** The lookup that all connections of this process share. */
export const sharedLookup = createLookup({ resolve: lookUp, now: () => performance.now() });
