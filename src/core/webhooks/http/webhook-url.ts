import type { Fault } from '@lapel/schemas/contracts/errors';
import { refusedHost } from './address-guard.ts';

const LONGEST = 2048;
// Without `//` and a host, the URL parser would guess (`https:example.com`); it would silently drop spaces and control
// characters.
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]/i;
const BLANK = /[\s\p{Cc}]/u;

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/**
 * Returns the fault of a webhook URL (op 2), or undefined. It must be absolute, `https` (or `http` where that is allowed, and
 * for loopback hosts), without credentials, and have at most `longest` characters (by default 2048). The address of a host's
 * name is checked when a connection is made.
 */
export function webhookUrlFault(name: string, text: string, allowHttp: boolean, longest = LONGEST): Fault | undefined {
  const fault = (type: string, msg: string): Fault => ({ loc: ['body', name], msg, type });
  if (text.length > longest) return fault('string_too_long', `String should have at most ${longest} characters`);
  const url = ABSOLUTE.test(text) && !BLANK.test(text) ? URL.parse(text) : null;
  if (!url) return fault('url_parsing', 'Input should be an absolute URL');
  if (url.protocol !== 'https:') {
    const http = url.protocol === 'http:' && (allowHttp || isLoopback(url.hostname));
    if (!http) return fault('url_scheme', "URL scheme should be 'https'");
  }
  if (url.username !== '' || url.password !== '') return fault('url_parsing', 'URL should not hold credentials');
  return undefined;
}

interface Allowed {
  allowHttp: boolean;
  allowPrivate: boolean;
}

function settingUrlRule({ allowHttp, allowPrivate }: Allowed) {
  return (text: string, name = ''): Fault | undefined => {
    const fault = webhookUrlFault(name, text, allowHttp);
    if (fault || !refusedHost(new URL(text).hostname, { allowPrivate })) return fault;
    const msg = 'Host should be a public one: webhooks go to no loopback, private or link-local address';
    return { loc: ['body', name], msg, type: 'url_parsing' };
  };
}

const rules = new Map<string, ReturnType<typeof settingUrlRule>>();

/**
 * Makes the rule for the URLs of settings: a host that the connection guard would refuse is already refused when it is set
 * (op 2). Equal options get the same function, because services in one process share the schemas that are compiled with it.
 */
export function createSettingUrlRule(allowed: Allowed) {
  const key = `${allowed.allowHttp} ${allowed.allowPrivate}`;
  const rule = rules.get(key) ?? settingUrlRule(allowed);
  rules.set(key, rule);
  return rule;
}
