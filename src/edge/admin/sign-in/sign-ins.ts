import { DomainError, toDomainError } from '@lapel/schemas/contracts/errors';
import type { People } from '../../../core/people/people.ts';
import type { Metrics } from '../../../metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Ids } from '../../../runtime/ids.ts';
import type { Log } from '../../../runtime/log.ts';
import type { ProviderSettings } from '../../../runtime/provider-settings.ts';
import { addressGroup } from '../../../runtime/socket-bounds.ts';
import { type Attempt, attemptOf, isPage, isSame, valuesOf } from './attempt.ts';
import { createProvider, type Provider } from './provider.ts';

/**
 * The most answers of providers that are worked on at a time, for each address and altogether. Each makes requests to
 * its provider, and anybody can begin a sign-in.
 */
export const MOST_FINISHING = 32;
export const MOST_FINISHING_OF_ADDRESS = 4;
const SOON_SECONDS = 1;

interface Parts {
  settings: readonly ProviderSettings[];
  /** LAPEL_CONSOLE_URL; null: pages at every address of the service may begin a sign-in. */
  consoleUrl: string | null;
  people: Pick<People, 'signIn'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'signIns' | 'httpRefused'>;
}

interface Answered {
  providerId: string;
  /** The query of the request, with its question mark. */
  search: string;
  cookie: string | undefined;
  address: string;
  requestId: string;
}

/** The address of the service, without a slash at its end, by the address of its console. */
function withoutConsole(consoleUrl: string): string {
  const { origin, pathname } = new URL(consoleUrl);
  const path = pathname.split('/').filter(Boolean);
  if (path.at(-1) === 'console') path.pop();
  return [origin, ...path].join('/');
}

export type SignIns = ReturnType<typeof createSignIns>;

/** Signs people in to the console of administration through providers. */
export function createSignIns({ settings, consoleUrl, people, clock, ids, log, metrics }: Parts) {
  const stop = new AbortController();
  const providers = new Map<string, Provider>(
    settings.map((one) => [one.providerId, createProvider(one, { clock, log, stopped: stop.signal })]),
  );
  const ownBase = consoleUrl === null ? null : withoutConsole(consoleUrl);
  const finishing = new Map<string, number>();
  let atWork = 0;

  function providerOf(providerId: string): Provider {
    const provider = providers.get(providerId);
    if (!provider) throw new DomainError('PROVIDER_NOT_FOUND');
    return provider;
  }

  /** The address of the service for a browser whose page has this origin. Throws SIGN_IN_ELSEWHERE. */
  function baseOf(origin: string): string {
    if (ownBase === null) return origin;
    if (new URL(ownBase).origin !== origin)
      throw new DomainError('SIGN_IN_ELSEWHERE', { values: { url: `${ownBase}/console/` } });
    return ownBase;
  }

  /** Runs `work` while the bounds of answers allow it. Throws RATE_LIMITED. */
  async function within<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    const group = addressGroup(address);
    const own = finishing.get(group) ?? 0;
    if (own >= MOST_FINISHING_OF_ADDRESS || atWork >= MOST_FINISHING) {
      metrics.httpRefused.inc({ bound: 'sign_ins' });
      throw new DomainError('RATE_LIMITED', { values: { seconds: SOON_SECONDS } });
    }
    finishing.set(group, own + 1);
    atWork += 1;
    try {
      return await work();
    } finally {
      atWork -= 1;
      const left = (finishing.get(group) ?? 1) - 1;
      if (left === 0) finishing.delete(group);
      else finishing.set(group, left);
    }
  }

  async function finish({ providerId, search, cookie, address, requestId }: Answered) {
    const provider = providerOf(providerId);
    const found = attemptOf(cookie, clock.now());
    const query = new URLSearchParams(search);
    if (!found || found.attempt.providerId !== providerId) throw new DomainError('SIGN_IN_FORGED');
    // A page of a sibling host can set a cookie of the plain name, but none of the secure one.
    if (ownBase?.startsWith('https:') && !found.secure) throw new DomainError('SIGN_IN_FORGED');
    if (!isSame(query.get('state') ?? '', valuesOf(found.attempt).state)) throw new DomainError('SIGN_IN_FORGED');
    if (query.has('error')) throw new DomainError('SIGN_IN_DENIED');
    const { subject, name, role } = await within(address, () => provider.finish(found.attempt, search));
    const person = await people.signIn({
      login: { issuer: provider.issuer, subject },
      name,
      role,
      requestId,
      address,
    });
    return { person, page: found.attempt.page, secure: found.secure, providerId };
  }

  return {
    /** The providers, for the buttons of the console. */
    shown: settings.map(({ providerId, name }) => ({ providerId, name })),

    /**
     * Begins a sign-in: the attempt that the browser keeps, and the URL to which it goes. Throws PROVIDER_NOT_FOUND,
     * SIGN_IN_ELSEWHERE and SIGN_IN_UNAVAILABLE.
     */
    async begin({ providerId, page, origin }: { providerId: string; page: string; origin: string }) {
      const provider = providerOf(providerId);
      if (!isPage(page))
        throw DomainError.invalid({ loc: ['body', 'page'], msg: 'must be a page of the console', type: 'value_error' });
      const attempt: Attempt = { secret: ids.secret(), providerId, base: baseOf(origin), page, at: clock.now() };
      return { attempt, url: await provider.begin(attempt) };
    },

    /**
     * Ends a sign-in with the answer of the provider, which the browser brings. Throws PROVIDER_NOT_FOUND, RATE_LIMITED,
     * TOO_MANY_PEOPLE and the errors SIGN_IN_....
     */
    async finish(answered: Answered) {
      const { providerId } = answered;
      try {
        const done = await finish(answered);
        metrics.signIns.inc({ provider: providerId, outcome: 'signed in' });
        return done;
      } catch (error) {
        const { code } = toDomainError(error);
        if (providers.has(providerId)) metrics.signIns.inc({ provider: providerId, outcome: code });
        throw error;
      }
    },

    /** The URL at which a browser also signs out of the provider of its session; null when there is none. */
    leave: async (providerId: string | null, origin: string): Promise<string | null> =>
      providerId === null ? null : ((await providers.get(providerId)?.leave(ownBase ?? origin)) ?? null),

    /** Aborts requests to providers. */
    [Symbol.asyncDispose](): Promise<void> {
      stop.abort();
      return Promise.resolve();
    },
  };
}
