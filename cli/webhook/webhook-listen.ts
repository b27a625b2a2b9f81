import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WEBHOOK_SETTINGS } from '@lapel/client/operations';
import { verifyWebhook, type WebhookEvent } from '@lapel/client/verify-webhook';
import { APPLICATION_OPTIONS, type Application, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { readSeconds, readUrl, readWhole } from '../line/command-line.ts';
import { Interrupted } from '../line/interrupted.ts';
import { kebab, type Options } from '../line/options.ts';
import { Failure } from '../show/failure.ts';
import { createTeller, type Teller } from '../show/json-lines.ts';
import { jsonText } from '../show/json-text.ts';
import { colourOf, type Look } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';
import { fieldText } from '../show/table.ts';
import type { Screen, Terminal } from '../show/terminal.ts';
import type { WebhookSetting } from './webhook-commands.ts';

const ALL = 'all';
const OPTIONS = {
  set: {
    value: 'SETTING',
    many: true,
    greedy: new RegExp(`^(${[...WEBHOOK_SETTINGS, ALL].join('|')})$`),
    choices: [...WEBHOOK_SETTINGS, ALL],
    text: 'send the webhooks of this setting here while the command runs, then restore its URL',
  },
  port: { value: 'N', text: 'port to listen on (any free port)' },
  host: { value: 'ADDRESS', text: 'address to listen on (127.0.0.1)' },
  'public-url': { value: 'URL', text: 'URL at which the service reaches this receiver, for example a tunnel' },
  full: { text: 'print each event in full' },
  timeout: { value: 'SECONDS', text: 'stop after this many seconds with exit code 0 (by default Ctrl-C stops it)' },
  ...APPLICATION_OPTIONS,
} satisfies Options;
const LARGEST_BODY = 1024 * 1024;
// Milliseconds to wait for a test event. One that has not arrived by then will not arrive soon: the next attempt is
// made after 5 s or more.
const TEST_MILLISECONDS = 3000;
const SEEN_KEPT = 1000;

/** Summarizes an event in a few words. */
function summaryOf({ type, data }: WebhookEvent): string {
  if ('transaction' in data) {
    const { transactionId, operation, error, result } = data.transaction;
    return `${operation} #${transactionId}${error ? `  ${error.code}: ${error.message}` : ''}${result ? `  ${fieldText(result)}` : ''}`;
  }
  const { applicationId: _, deviceId: __, eventId: ___, ...rest } = data as Record<string, unknown>;
  return type === 'test' ? 'a test event' : fieldText(rest);
}

function eventText(event: WebhookEvent, { isRepeat, full }: { isRepeat: boolean; full: boolean }) {
  return ({ paint }: Look): string => {
    const { type, timestamp, data } = event;
    const device = 'deviceId' in data ? String(data.deviceId) : '';
    const colour = colourOf(type.split('.').at(-1) ?? '') ?? 'cyan';
    const again = isRepeat ? paint('yellow', ' (again)') : '';
    const head = [
      paint('dim', oneLine(timestamp.slice(11, 23))),
      paint(colour, oneLine(type)) + again,
      oneLine(device),
      oneLine(summaryOf(event)),
    ];
    const line = head.filter((part) => part !== '').join('  ');
    return `${line}\n${full ? `${jsonText(event, 2)}\n` : ''}`;
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Receives webhooks, verifies them, and reports each. The key is read again when a signature no longer matches it. */
function createReceiver(
  application: Application,
  { authenticationKey, teller, full }: { authenticationKey: string; teller: Teller; full: boolean },
) {
  let key = authenticationKey;
  const seen = new Set<string>();
  const arrived = Promise.withResolvers<void>();

  async function verified(body: Buffer, headers: IncomingMessage['headers']) {
    try {
      return verifyWebhook({ body, headers, authenticationKey: key });
    } catch (error) {
      const now = await application.call('read the key', (lapel) => lapel.readSettings()).catch(() => null);
      if (now?.authenticationKey === undefined || now.authenticationKey === key) throw error;
      key = now.authenticationKey;
      return verifyWebhook({ body, headers, authenticationKey: key });
    }
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number): void => void response.writeHead(status).end();
    if (request.method !== 'POST') return answer(405);
    const body = await bodyOf(request);
    if (!body) return answer(413);
    try {
      const { webhookId, event } = await verified(body, request.headers);
      answer(204);
      const isRepeat = seen.has(webhookId);
      seen.add(webhookId);
      if (seen.size > SEEN_KEPT) seen.delete(seen.values().next().value!);
      if (event.type === 'test') arrived.resolve();
      teller.tell({ webhookId, isRepeat, ...event }, eventText(event, { isRepeat, full }));
    } catch (error) {
      answer(401);
      const reason = (error as Error).message;
      teller.tell(
        { refused: reason, body: body.toString() },
        ({ paint }) => `${paint('red', 'refused')}  ${oneLine(reason)}: ${oneLine(body.toString().slice(0, 200))}\n`,
      );
    }
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  return { server, arrived: arrived.promise };
}

/**
 * Puts the URL of this receiver into the settings. `restore` of the result puts the former URLs back, where a setting
 * still has this URL.
 */
async function pointSettings(application: Application, settings: readonly WebhookSetting[], url: string) {
  const before = await application.call('read the settings', (lapel) => lapel.readSettings());
  const body = Object.fromEntries(settings.map((setting) => [setting, url]));
  await application.call('change the settings', (lapel) => lapel.updateSettings({ body }));
  const old = Object.fromEntries(settings.map((setting) => [setting, before[setting] ?? null]));
  return {
    old,
    async restore(): Promise<void> {
      const now = await application.call('read the settings', (lapel) => lapel.readSettings());
      const ours = Object.entries(old).filter(([setting]) => now[setting as WebhookSetting] === url);
      if (ours.length === 0) return;
      await application.call('restore the settings', (lapel) =>
        lapel.updateSettings({ body: Object.fromEntries(ours) }),
      );
    },
  };
}

/** Tells which settings already have the URL of this receiver, or how to set one. */
function sentHere(current: Partial<Record<WebhookSetting, string>>, url: string): string {
  const { href } = new URL(url); // normalized, so that a slash at the end makes no difference
  const here = WEBHOOK_SETTINGS.filter((setting) => current[setting] && new URL(current[setting]).href === href);
  if (here.length > 0) return `settings with this URL: ${here.join(', ')}`;
  return `no setting has this URL yet: use --set deviceEvent, or lapel settings set --device-event ${url}`;
}

/** Restores the settings. When the service refuses, it tells how to do that by hand. */
async function putBack({ old, restore }: Awaited<ReturnType<typeof pointSettings>>, screen: Screen): Promise<void> {
  try {
    await restore();
    screen.line('the settings were restored');
  } catch (error) {
    const options = Object.entries(old).map(([setting, url]) =>
      url === null ? `--no-${kebab(setting)}` : `--${kebab(setting)} ${url}`,
    );
    screen.line(
      oneLine(
        `the settings still have the URL of this receiver; to restore them: lapel settings set ${options.join(' ')}`,
      ),
    );
    throw error;
  }
}

/** Sends a test event. When it does not arrive, reports the reason from the delivery log. */
async function tryOut(
  application: Application,
  {
    setting,
    arrived,
    teller,
    terminal,
  }: { setting: WebhookSetting; arrived: Promise<void>; teller: Teller; terminal: Terminal },
): Promise<void> {
  const { deliveryId } = await application.call('send a test event', (lapel) =>
    lapel.sendTestEvent({ body: { setting } }),
  );
  const waiting = new AbortController();
  const late = terminal.pause(TEST_MILLISECONDS, waiting.signal).then(() => 'late');
  late.catch(() => undefined);
  const outcome = await Promise.race([arrived, late]);
  waiting.abort();
  if (outcome !== 'late') return;
  const { deliveries } = await application.call('read the delivery log', (lapel) =>
    lapel.listDeliveries({ query: { setting, limit: 20 } }),
  );
  const reason = deliveries.find((delivery) => delivery.deliveryId === deliveryId)?.lastError ?? 'no attempt yet';
  teller.screen.line(`The test event did not arrive: ${oneLine(reason)}`);
  teller.screen.line('  The service sends webhooks to this machine or a private network only if it was started with');
  teller.screen.line(
    '  LAPEL_WEBHOOK_ALLOW_PRIVATE=true. A service on another machine needs a tunnel and --public-url.',
  );
}

export const webhookListen: Command = {
  name: 'webhook listen',
  summary: 'Receives webhooks for development: verifies and shows them',
  about: `Verifies each signature with the application's authenticationKey and answers 204, or 401 when a signature is wrong.
With --set the settings get the URL of this receiver while it runs, and a test event shows whether webhooks arrive. --json
prints one object per line.`,
  options: OPTIONS,
  examples: [
    'lapel webhook listen --set deviceEvent',
    'lapel webhook listen --set all --full',
    'lapel webhook listen --port 9000 --set deviceEvent --public-url https://me.tunnel.example.com --json | jq .type',
  ],
  endsItself: true,
  async run(given, terminal) {
    const port = readWhole('port', given.text('port') ?? '0');
    const host = given.text('host') ?? '127.0.0.1';
    const named = given.list('set');
    const settings = named.includes(ALL) ? WEBHOOK_SETTINGS : (named as WebhookSetting[]);
    const limit = given.text('timeout');
    const publicUrl = given.text('public-url');
    const application = await openApplication(given, terminal);
    const current = await application.call('read the settings', (lapel) => lapel.readSettings());
    const { authenticationKey } = current;
    if (authenticationKey === undefined) {
      throw new Failure('authenticationKey is not issued.', { advice: ['issue it first: lapel settings key'] });
    }
    const teller = createTeller(given.flag('json'), terminal);
    const { server, arrived } = createReceiver(application, { authenticationKey, teller, full: given.flag('full') });
    try {
      await once(server.listen(port, host), 'listening');
    } catch (error) {
      throw new Failure(`cannot listen on ${host}:${port}: ${(error as Error).message}`, { cause: error });
    }
    const local = `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}/`;
    const url = publicUrl === undefined ? local : readUrl('public-url', publicUrl);
    const { screen } = teller;
    let pointed: Awaited<ReturnType<typeof pointSettings>> | undefined;
    const { interrupted } = terminal;
    try {
      screen.line(`listening at ${url}`);
      if (settings.length > 0) {
        pointed = await pointSettings(application, settings, url);
        for (const [setting, old] of Object.entries(pointed.old)) {
          screen.line(oneLine(`${setting} has this URL until the command ends (before: ${old ?? 'none'})`));
        }
        await tryOut(application, { setting: settings[0]!, arrived, teller, terminal });
      } else screen.line(oneLine(sentHere(current, url)));
      if (screen.live) screen.show(['waiting for webhooks: Ctrl-C ends it']);
      const forEver = 2 ** 31 - 1;
      const wait = limit === undefined ? forEver : 1000 * readSeconds('timeout', limit);
      await terminal.pause(wait, interrupted).catch(() => undefined);
    } finally {
      screen.show([]);
      server.close();
      server.closeAllConnections();
      if (pointed) await putBack(pointed, screen);
    }
    if (interrupted.aborted) throw new Interrupted();
    return { json: undefined, text: '' };
  },
};
