import { remember } from '../bounded-map.ts';
import { createPointed, PRIVATE_ADVICE } from '../customer/pointed.ts';
import type { ApplicationAccess } from '../customer/provision.ts';
import { type Receiver, startReceiver } from '../customer/receiver.ts';
import { RECEIVER_FAULTS, type ReceiverFault } from '../customer/receiver-fault.ts';
import { UsageError } from '../usage-error.ts';
import { checkNames, HTTP, readNumber, readOneOf, readText, readUrl, shown } from './arguments.ts';
import { createInbox } from './inbox.ts';
import type { ReceivedWebhook, ReceiverAddress, ReceiverOptions, WebhookMatch, WebhookReceiver } from './public.d.ts';

const IDS_KEPT = 10_000;
const FORGED_KEPT = 1000;
const FAULTS = Object.keys(RECEIVER_FAULTS) as ReceiverFault[];
export const ADDRESS = ['host', 'port', 'publicUrl'] as const satisfies readonly (keyof ReceiverAddress)[];

/** Checks an application; `at` is the beginning of the names in errors. */
export function readApplication(given: { applicationId?: unknown; secret?: unknown }, at = 'application.') {
  checkNames('application', given, ['applicationId', 'secret']);
  const { applicationId, secret } = given;
  return {
    applicationId: readText(`${at}applicationId`, applicationId),
    secret: readText(`${at}secret`, secret),
  };
}

function readAddress({ host = '127.0.0.1', port = 0, publicUrl }: ReceiverAddress) {
  return {
    listen: { host: readText('host', host), port: readNumber('port', port, { min: 0, max: 65_535, whole: true }) },
    publicUrl: publicUrl === undefined ? undefined : readUrl('publicUrl', publicUrl, HTTP),
  };
}

/** The function that selects webhooks, from its three forms. */
function matcherOf(match: WebhookMatch | undefined): (webhook: ReceivedWebhook) => boolean {
  if (match === undefined) return () => true;
  if (typeof match === 'function') return match;
  if (typeof match === 'string') return ({ type }) => type === match;
  if (typeof match !== 'object' || match === null)
    throw new UsageError('match', `${shown(match)} is neither a type, nor an object, nor a function`);
  const wanted = Object.entries(match);
  return ({ data }) => {
    // The result of a command has its transactionId and its operation one level deeper.
    const known: Readonly<Record<string, unknown>> = { ...data.transaction, ...data };
    return wanted.every(([name, value]) => known[name] === value);
  };
}

/** A receiver for the code of a test around the receiver of the simulator. */
async function startWith(
  address: ReceiverAddress,
  authenticationKey: () => string,
  end: () => Promise<void>,
): Promise<{ handle: WebhookReceiver; own: Receiver }> {
  const inbox = createInbox<ReceivedWebhook>();
  const known = new Map<string, true>();
  const forged: string[] = [];
  const own = await startReceiver({
    ...readAddress(address),
    authenticationKey,
    onReceived({ webhookId, event }) {
      if (known.has(webhookId)) return;
      remember(known, webhookId, true, IDS_KEPT);
      inbox.add({ webhookId, ...event, data: { ...event.data } });
    },
    onForged(reason) {
      if (forged.length < FORGED_KEPT) forged.push(reason);
    },
  });

  async function close(): Promise<void> {
    try {
      await end();
    } finally {
      await own[Symbol.asyncDispose]();
      inbox.close('the receiver is closed, so no webhook will arrive');
    }
  }

  const handle: WebhookReceiver = {
    url: own.url,
    uploadUrl: own.urlsUrl,
    webhooks: inbox.all,
    forged,
    get files() {
      return { count: own.store.files, bytes: own.store.bytes };
    },
    async webhook(match, patience = {}) {
      return inbox.take(matcherOf(match), patience, (waited) => {
        const before = inbox.all.map(({ type }) => type).slice(-20);
        const wrong = forged.length > 0 ? `; ${forged.length} had a wrong signature: ${forged.at(-1)}` : '';
        const wanted = match === undefined ? 'webhook' : `webhook ${shown(match)}`;
        return `no ${wanted} arrived within ${waited}; so far: ${before.join(', ') || 'no webhook'}${wrong}`;
      });
    },
    play(fault) {
      own.play(fault === undefined ? [] : [{ fault: readOneOf('fault', fault, FAULTS), share: 1 }]);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return { handle, own };
}

/**
 * Starts a receiver, and lets all URLs of the application point at it. The application gets a new authenticationKey.
 * `restores`: at the end the application gets its former URLs.
 */
export async function receiverOf(
  api: string,
  application: ApplicationAccess,
  address: ReceiverAddress,
  { restores }: { restores: boolean },
): Promise<WebhookReceiver> {
  const pointed = createPointed(api, application);
  let key = '';
  const { handle } = await startWith(
    address,
    () => key,
    async () => {
      if (restores) await pointed.restore();
    },
  );
  try {
    key = await pointed.issueKey();
    await pointed.point(handle.url, handle.uploadUrl);
  } catch (cause) {
    await handle.close();
    const text = `application ${application.applicationId} cannot use ${handle.url}: ${(cause as Error).message}`;
    throw new Error(`${text}; ${PRIVATE_ADVICE}`, { cause });
  }
  return handle;
}

/** Starts a receiver for tests. Throws a UsageError that names the wrong option. */
export async function openReceiver(options: ReceiverOptions): Promise<WebhookReceiver> {
  checkNames('receiver', options, ['authenticationKey', 'application', 'api', ...ADDRESS]);
  const { authenticationKey, application, api = 'http://127.0.0.1:8080' } = options;
  if (application) {
    if (authenticationKey !== undefined)
      throw new UsageError('authenticationKey', 'cannot be given with application, which gets a new one');
    return receiverOf(readUrl('api', api, HTTP), readApplication(application), options, { restores: true });
  }
  const key = readText('authenticationKey', authenticationKey);
  if (!key.startsWith('whsec_')) throw new UsageError('authenticationKey', 'does not begin with whsec_');
  const { handle } = await startWith(
    options,
    () => key,
    async () => {},
  );
  return handle;
}
