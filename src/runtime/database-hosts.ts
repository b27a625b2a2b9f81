/** The parts of `postgres://user:password@host:port,host:port/name?options`. */
const WHOLE = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(\/[^/?#]+.*)$/;
const SESSIONS = 'target_session_attrs';
/** What may be asked of a session; every one of them has to write. */
const WRITING: readonly (string | null)[] = [null, 'read-write', 'primary', 'any'];

/** The hosts of a URL that names several, each in a URL of its own, in order. Undefined when it is none of a database. */
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

/** Where a database is, for people: without the password. */
export function placeOf(url: string): string {
  return (hostsOf(url) ?? [])
    .map((one) => {
      const { hostname, port, pathname, searchParams } = new URL(one.replace(/@\/|:\/\/\//, '@localhost/'));
      return `${searchParams.get('host') ?? hostname}:${port || 5432}${pathname}`;
    })
    .join(', ');
}

/**
 * Opens something at the hosts of a URL, beginning with the one where it was last: a standby, or a host that does not answer,
 * is passed over. Rejects with the reason of the first of them, as each host was tried.
 */
export function atHosts(url: string) {
  const urls = hostsOf(url) ?? [url];
  let last = 0;
  return async <Opened>(open: (url: string) => Promise<Opened>): Promise<Opened> => {
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
