import type { IncomingHttpHeaders } from 'node:http';
import { AnswerTooLong, boundedRequest } from '../../../runtime/bounded-request.ts';
import type { Clock } from '../../../runtime/clock.ts';

/** Milliseconds that a provider may take for an answer, and the most bytes of it. */
export const PROVIDER_TIMEOUT_MS = 5_000;
export const LONGEST_PROVIDER_ANSWER = 256 * 1024;

/** The provider did not answer as it should: it cannot be reached, is too slow, or sends too much. */
export class ProviderAway extends Error {
  constructor(problem: string, cause?: unknown) {
    super(problem, cause === undefined ? undefined : { cause });
    this.name = 'ProviderAway';
  }
}

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

const pairsOf = (headers: IncomingHttpHeaders): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): [string, string] => [name, one]));

/** Makes a `fetch` whose answers are bounded in time and size. It throws ProviderAway. */
export const createBoundedFetch =
  ({ clock, stopped }: { clock: Pick<Clock, 'after'>; stopped: AbortSignal }) =>
  async (url: string, options: object): Promise<Response> => {
    const late = new AbortController();
    const cancel = clock.after(PROVIDER_TIMEOUT_MS, () => late.abort());
    try {
      const signal = AbortSignal.any([late.signal, stopped]);
      const request = new Request(url, options);
      const answer = await boundedRequest(url, {
        method: request.method,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
        signal,
        mostBytes: LONGEST_PROVIDER_ANSWER,
      });
      const { status, headers, body } = answer;
      if (status >= 500) throw new ProviderAway(`${new URL(url).pathname} was answered ${status}`);
      return new Response(BODILESS.has(status) ? null : body, { status, headers: pairsOf(headers) });
    } catch (cause) {
      if (cause instanceof ProviderAway) throw cause;
      if (cause instanceof AnswerTooLong) throw new ProviderAway(cause.message);
      const problem = late.signal.aborted ? `no answer within ${PROVIDER_TIMEOUT_MS / 1000} s` : 'no answer';
      throw new ProviderAway(problem, cause);
    } finally {
      cancel();
    }
  };
