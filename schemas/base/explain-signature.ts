// The console uses this file as well. So it imports nothing, and uses only functions of both browsers and Node.

/** A webhook as a receiver has got it, and the key with which the receiver verifies it. */
export interface ReceivedWebhook {
  /** The headers, one on each line, or as a JSON object. */
  headers: string;
  /** The body as it was received, before anything parsed it. */
  body: Uint8Array<ArrayBuffer>;
  authenticationKey: string;
  /** The time of the receiver, in milliseconds. */
  nowMs: number;
}

export type SignedPart = 'key' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature' | 'body';

/** What was found out about a part of a webhook. */
export interface SignatureFinding {
  part: SignedPart;
  isFault: boolean;
  text: string;
}

export interface SignatureReport {
  /** Whether a receiver accepts the webhook: it is signed with the key, and not too old. */
  isGenuine: boolean;
  findings: SignatureFinding[];
}

const PREFIX = 'whsec_';
const VERSION = 'v1,';
/** The most seconds between the time of the signature and that of the receiver. */
const TOLERANCE = 300;
const NEEDED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

/** Decodes base64 of both alphabets; null for any other text. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('=', '');
  if (plain === '' || !/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return null;
  return Uint8Array.from(atob(plain), (one) => one.charCodeAt(0));
}
const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function hmac(key: Uint8Array<ArrayBuffer>, message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const how = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, how, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message));
}

/** Writes a value as JSON; undefined for one that is nested too deeply. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads headers as they are in logs: lines, also those of `curl -v`, or a JSON object. Names are in lower case. */
function readHeaders(text: string): Map<string, string> {
  const object = parsed(text);
  if (typeof object === 'object' && object !== null)
    return new Map(Object.entries(object).map(([name, value]) => [name.toLowerCase(), String(value).trim()]));
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line
      .slice(0, colon)
      .trim()
      .replace(/^[<>] /, '')
      .toLowerCase();
    found.set(name, line.slice(colon + 1).trim());
  }
  return found;
}

/** The changes that are often made to a body on its way, each undone. */
function bodiesBefore(body: Uint8Array<ArrayBuffer>): [change: string, before: Uint8Array<ArrayBuffer>][] {
  const text = textOf(body);
  const value = parsed(text);
  const before: [string, string | undefined][] = [
    ['A byte order mark was added.', text.replace(/^\uFEFF/, '')],
    ['A line end was added at its end.', text.trimEnd()],
    ['Space was added around it.', text.trim()],
    ['The line end at its end is missing.', `${text}\n`],
    ['Its line ends were changed from CR LF to LF.', text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n')],
    ['Its line ends were changed from LF to CR LF.', text.replaceAll('\r\n', '\n')],
  ];
  const again = 'It was parsed and written again as JSON, with other spaces or escapes. Verify the raw bytes.';
  if (typeof value === 'string') before.push(['It was written as a JSON string. Verify the raw bytes.', value]);
  else if (value !== undefined) before.push([again, written(value)]);
  if (typeof value === 'object' && value !== null && 'data' in value) {
    const { type, timestamp, data, ...rest } = value as Record<string, unknown>;
    const ordered = written({ type, timestamp, data, ...rest });
    before.push(['It was parsed and written again as JSON, with its members in another order.', ordered]);
  }
  const changes: [string, Uint8Array<ArrayBuffer>][] = before.flatMap(([change, one]) =>
    one === undefined || one === text ? [] : [[change, bytesOf(one)]],
  );
  if (/[\x80-\xFF]/.test(text) && /^[\0-\xFF]*$/.test(text))
    changes.push([
      'It was read as Latin-1 and written as UTF-8.',
      Uint8Array.from(text, (one) => one.charCodeAt(0)) as Uint8Array<ArrayBuffer>,
    ]);
  return changes;
}

/** The first byte in which two bodies differ. */
function firstDifference(one: Uint8Array, other: Uint8Array): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

const inWords = (seconds: number): string => {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} days`;
};

function aboutTime(timestamp: string, nowMs: number): SignatureFinding {
  const part = 'webhook-timestamp';
  if (!/^\d{1,12}$/.test(timestamp)) {
    const text = /^\d{13,16}$/.test(timestamp)
      ? 'It has the form of milliseconds or microseconds; the service sends seconds since 1970.'
      : 'It is not a number of seconds since 1970.';
    return { part, isFault: true, text };
  }
  const age = Math.floor(nowMs / 1000) - Number(timestamp);
  if (age > TOLERANCE)
    return { part, isFault: true, text: `It is too old: signed ${inWords(age)} ago; at most 5 minutes are accepted.` };
  if (age < -TOLERANCE)
    return { part, isFault: true, text: `It is ${inWords(-age)} in the future: the clock of the receiver is wrong.` };
  return { part, isFault: false, text: `Signed ${inWords(Math.abs(age))} ${age < 0 ? 'from now' : 'ago'}.` };
}

/** The bytes of a key, and what is wrong with its form. */
function aboutKey(given: string): { bytes: Uint8Array<ArrayBuffer> | null; finding: SignatureFinding | null } {
  const key = given.trim().replace(/^["']|["']$/g, '');
  const fault = (text: string): SignatureFinding => ({ part: 'key', isFault: true, text });
  if (key === '') return { bytes: null, finding: fault('There is no key.') };
  const hasPrefix = key.startsWith(PREFIX);
  const bytes = fromBase64(hasPrefix ? key.slice(PREFIX.length) : key);
  if (bytes === null)
    return { bytes, finding: fault(`It is not an authenticationKey, which is ${PREFIX} and base64.`) };
  const finding = hasPrefix ? null : fault(`It has lost its prefix ${PREFIX}.`);
  return { bytes, finding };
}

/** An entry of `webhook-signature`: its bytes in base64, and what is wrong with its form. */
function readEntry(entry: string): { signature: string; fault: string | null } {
  const comma = entry.search(/[,=:]/);
  const version = comma > 0 && comma < 4 ? entry.slice(0, comma + 1) : '';
  const bytes = fromBase64(entry.slice(version.length));
  const signature = bytes === null ? '' : toBase64(bytes);
  if (version === '') return { signature, fault: `An entry has no version; each entry begins with ${VERSION}` };
  if (version !== VERSION)
    return { signature, fault: `An entry begins with ${version}, which is another version than ${VERSION}` };
  if (bytes === null || bytes.length !== 32)
    return { signature, fault: 'An entry is not 32 bytes in base64; it may be cut off.' };
  return {
    signature,
    fault:
      signature === entry.slice(VERSION.length) ? null : 'An entry has another form of base64 than the service sends.',
  };
}

/** Finds the part that differs, when a webhook is not signed with the key as it is. */
async function explain(
  { headers, body }: { headers: ReadonlyMap<string, string>; body: Uint8Array<ArrayBuffer> },
  bytes: Uint8Array<ArrayBuffer>,
  signatures: ReadonlySet<string>,
): Promise<SignatureFinding[]> {
  const [id = '', timestamp = ''] = [headers.get('webhook-id'), headers.get('webhook-timestamp')];
  const matches = async (time: string, content: Uint8Array<ArrayBuffer>): Promise<boolean> =>
    signatures.has(toBase64(await hmac(bytes, joined(bytesOf(`${id}.${time}.`), content))));
  const seconds = timestamp.slice(0, 10);
  if (seconds !== timestamp && (await matches(seconds, body)))
    return [{ part: 'webhook-timestamp', isFault: true, text: `It was ${seconds} when the service signed it.` }];
  for (const [change, before] of bodiesBefore(body))
    if (await matches(timestamp, before)) {
      const text = `${change} The service signed ${before.length} bytes, and here are ${body.length}; they differ from byte ${firstDifference(before, body)} on.`;
      return [{ part: 'body', isFault: true, text }];
    }
  const text =
    'No usual change of the body explains the difference. It is probably another key: that of another application, or one that was replaced. Otherwise webhook-id, webhook-timestamp or the body is that of another webhook.';
  return [{ part: 'webhook-signature', isFault: true, text }];
}

/**
 * Says whether a webhook is signed with a key, and if not, which part differs. The time that this takes grows with the
 * length of the webhook only.
 */
export async function explainSignature(received: ReceivedWebhook): Promise<SignatureReport> {
  const headers = readHeaders(received.headers);
  const missing = NEEDED.filter((name) => !headers.get(name));
  const findings: SignatureFinding[] = missing.map((part) => ({
    part,
    isFault: true,
    text: 'The header is missing.',
  }));
  const { bytes, finding } = aboutKey(received.authenticationKey);
  if (finding) findings.push(finding);
  const timestamp = headers.get('webhook-timestamp');
  if (timestamp) findings.push(aboutTime(timestamp, received.nowMs));
  if (missing.length > 0 || bytes === null) return { isGenuine: false, findings };

  const entries = headers.get('webhook-signature')!.split(' ').filter(Boolean).map(readEntry);
  const signed = joined(bytesOf(`${headers.get('webhook-id')}.${timestamp}.`), received.body);
  const expected = toBase64(await hmac(bytes, signed));
  const found = entries.find(({ signature }) => signature === expected);
  if (found && found.fault === null) {
    findings.push({ part: 'webhook-signature', isFault: false, text: 'It is right: id, time, body and key agree.' });
  } else {
    for (const fault of new Set(entries.map((entry) => entry.fault)))
      if (fault !== null) findings.push({ part: 'webhook-signature', isFault: true, text: fault });
    if (found)
      findings.push({ part: 'body', isFault: false, text: 'Id, time, body and key agree with the signature.' });
    else {
      const signatures = new Set(entries.map(({ signature }) => signature));
      findings.push(...(await explain({ headers, body: received.body }, bytes, signatures)));
    }
  }
  return { isGenuine: !findings.some(({ isFault }) => isFault), findings };
}
