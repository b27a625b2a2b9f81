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

async function bytesOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > LONGEST_PROVIDER_ANSWER)
      throw new ProviderAway(`the answer is longer than ${LONGEST_PROVIDER_ANSWER / 1024} KiB`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Makes a `fetch` whose answers are bounded in time and size. It throws ProviderAway. */
export const createBoundedFetch =
  ({ clock, stopped }: { clock: Pick<Clock, 'after'>; stopped: AbortSignal }) =>
  async (url: string, options: object): Promise<Response> => {
    const late = new AbortController();
    const cancel = clock.after(PROVIDER_TIMEOUT_MS, () => late.abort());
    try {
      const signal = AbortSignal.any([late.signal, stopped]);
      const response = await fetch(url, { ...options, signal });
      const { status, headers } = response;
      const bytes = await bytesOf(response);
      if (status >= 500) throw new ProviderAway(`${new URL(url).pathname} was answered ${status}`);
      return new Response(BODILESS.has(status) ? null : bytes, { status, headers });
    } catch (cause) {
      if (cause instanceof ProviderAway) throw cause;
      const problem = late.signal.aborted ? `no answer within ${PROVIDER_TIMEOUT_MS / 1000} s` : 'no answer';
      throw new ProviderAway(problem, cause);
    } finally {
      cancel();
    }
  };
