/** Matches `postgres://user:password@host:port,host:port/name?options` and captures its parts. */
const WHOLE = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^/?#]+.*)$/;
const SESSIONS = 'target_session_attrs';
/** The values of `target_session_attrs` that are accepted: the service writes in every session. */
const WRITING: readonly (string | null)[] = [null, 'read-write', 'primary', 'any'];

/**
 * Splits a URL with several hosts into one URL for each host, in order. Undefined when it is no URL of a PostgreSQL
 * database.
 */
export function hostsOf(url: string): string[] | undefined {
  const [, before, hosts = '', after] = WHOLE.exec(url) ?? [];
  if (before === undefined || after === undefined) return undefined;
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`);
  const readable = (one: string): boolean => {
    const parsed = URL.parse(one.replace(/@\/|:\/\/\//, '@localhost/'));
    return parsed !== null && WRITING.includes(parsed.searchParams.get(SESSIONS));
  };
  return urls.every(readable) ? urls : undefined;
}

/** Whether a URL of a database holds a password. */
export const hasPassword = (url: string): boolean =>
  (hostsOf(url) ?? []).some((one) => {
    const { password, searchParams } = new URL(one.replace(/@\/|:\/\/\//, '@localhost/'));
    return password !== '' || searchParams.has('password');
  });

/** The hosts, ports and name of a database, without its user and password, for messages to people. */
export function placeOf(url: string): string {
  return (hostsOf(url) ?? [])
    .map((one) => {
      const { hostname, port, pathname, searchParams } = new URL(one.replace(/@\/|:\/\/\//, '@localhost/'));
      return `${searchParams.get('host') ?? hostname}:${port || 5432}${pathname}`;
    })
    .join(', ');
}

/**
 * Returns a function that tries to open a connection to the hosts of a URL, one after another. It begins with the host
 * of the last success, and goes on to the next host when one is a standby or does not answer. When all hosts fail, it
 * rejects with the reason of the first attempt. A function tells the URL for each connection: its hosts stay the same, but
 * not the password.
 */
export function atHosts(url: string | (() => string)) {
  let last = 0;
  return async <Opened>(open: (url: string) => Promise<Opened>): Promise<Opened> => {
    const whole = typeof url === 'string' ? url : url();
    const urls = hostsOf(whole) ?? [whole];
    let reason: unknown;
    for (let tried = 0; tried < urls.length; tried += 1) {
      const at = (last + tried) % urls.length;
      try {
        const opened = await open(urls[at] as string);
        last = at;
        return opened;
      } catch (cause) {
        reason ??= cause;
      }
    }
    throw reason;
  };
}
