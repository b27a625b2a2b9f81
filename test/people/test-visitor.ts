import { request } from 'undici';
import { pageHeaders } from './people-world.ts';

export interface Visited {
  status: number;
  code: string | undefined;
  location: string;
  text: string;
  cookies: string[];
}

/** A browser without pages: it keeps cookies for each origin, and follows redirects as far as one wants. */
export function createVisitor(base: string) {
  const jars = new Map<string, Map<string, string>>();

  const jarOf = (url: string): Map<string, string> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };

  async function visit(
    url: string,
    options: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ): Promise<Visited> {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(url, {
      method: (options.method ?? 'GET') as 'GET',
      headers: { ...options.headers, ...(cookie !== '' && { cookie }) },
      body: options.body ?? null,
    });
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    for (const line of cookies) {
      const [pair = ''] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      const value = pair.slice(name.length + 1);
      if (value === '' || /expires=Thu, 01 Jan 1970|Max-Age=0/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers['location'];
    return {
      status: answer.statusCode,
      code: answer.headers['lapel-error-code'] as string | undefined,
      location: location === undefined ? '' : new URL(String(location), url).href,
      text: await answer.body.text(),
      cookies,
    };
  }

  /** Begins a sign-in; returns the URL of the provider. */
  async function begin(providerId: string, page?: string): Promise<Visited & { url: string }> {
    const answer = await visit(`${base}/console/sign-in`, {
      method: 'POST',
      headers: { ...pageHeaders(base), 'content-type': 'application/json' },
      body: JSON.stringify({ providerId, ...(page !== undefined && { page }) }),
    });
    return { ...answer, url: answer.status === 200 ? (JSON.parse(answer.text) as { url: string }).url : '' };
  }

  /** Follows the provider from its URL; returns the URL with which it leads back. */
  async function throughProvider(url: string): Promise<string> {
    let at = url;
    for (let hops = 0; hops < 10 && !at.startsWith(base); hops += 1) {
      const { location, status, text } = await visit(at);
      if (location === '') throw new Error(`the provider answered ${status}: ${text.slice(0, 500)}`);
      at = location;
    }
    return at;
  }

  return {
    visit,
    begin,
    throughProvider,

    /** Signs in: begins, follows the provider, and comes back. */
    async signIn(providerId: string, page?: string): Promise<Visited> {
      const { url, code } = await begin(providerId, page);
      if (url === '') throw new Error(`no sign-in: ${code}`);
      return visit(await throughProvider(url));
    },

    /** Asks administration with the session. */
    ask: async (path: string, method = 'GET', body?: object) => {
      const headers = { ...pageHeaders(base), 'content-type': 'application/json' };
      const answer = await visit(`${base}${path}`, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return { ...answer, body: answer.text === '' ? undefined : JSON.parse(answer.text) };
    },

    /** The cookies of the service. */
    own: (): Map<string, string> => jarOf(base),
    /** Forgets who is signed in at a provider. */
    leaves: (issuer: string): void => void jars.delete(new URL(issuer).origin),
  };
}
