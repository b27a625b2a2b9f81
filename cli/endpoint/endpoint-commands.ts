import type { Operations } from '@lapel/client/operations';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import type { Command } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Argument, Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Text } from '../show/look.ts';
import { type Column, recordText, table } from '../show/table.ts';

type Endpoint = Operations['readEndpoint']['answer'];
type Created = Operations['createEndpoint']['answer'];
type Update = Operations['updateEndpoint']['input']['body'];

export const ENDPOINT: Argument = { name: 'ENDPOINT' };
export const EXAMPLE = 'ep_0193480f3a5b00112233445566778899';

const TERMS = {
  type: {
    value: 'T',
    many: true,
    text: 'only events of this type; a type with .* at its end stands for all that begin with it',
  },
  description: { value: 'TEXT', text: 'a note for people' },
  ordered: { text: 'send the next event of a device only when the one before was accepted or given up' },
  rate: { value: 'N', text: 'send at most N new events in a second' },
} satisfies Options;

const SIGNATURES = {
  signatures: {
    value: 'S',
    choices: ['v1', 'v1a'],
    text: 'how notifications are signed: v1 with a secret that the receiver shares, v1a with a key pair of the endpoint',
  },
} satisfies Options;

/** The state of an endpoint, in a word. */
const doing = ({ enabled, disabledReason, failingSince, replay }: Endpoint): string => {
  if (!enabled) return disabledReason === 'failing' ? 'disabled: it failed' : 'disabled';
  if (failingSince !== null) return 'failing';
  return replay === null ? 'enabled' : 'replaying';
};

const COLUMNS: readonly Column<Endpoint>[] = [
  { head: 'ENDPOINT', cell: ({ endpointId }) => endpointId },
  { head: 'STATE', cell: doing, state: true },
  { head: 'BEHIND', cell: ({ state }) => state.behind },
  { head: 'PENDING', cell: ({ state }) => state.pending },
  { head: 'BLOCKED', cell: ({ state }) => state.blocked },
  { head: 'URL', cell: ({ url }) => url, flexible: true },
  { head: 'TYPES', cell: ({ types }) => types.join(' ') || 'all', flexible: true },
  { head: 'DESCRIPTION', cell: ({ description }) => description, flexible: true },
];

const BLOCKED: readonly Column<Endpoint['blockedDevices'][number]>[] = [
  { head: 'BLOCKED DEVICE', cell: ({ deviceId }) => deviceId },
  { head: 'WAITS FOR', cell: ({ blockedBy }) => blockedBy },
  { head: 'EVENTS', cell: ({ waiting }) => waiting },
];

/** The fields of an endpoint one below the other, and the devices that it holds up. */
function endpointText({ state, blockedDevices, publicKeys, types, signatures, ...record }: Endpoint): Text {
  const shown = {
    ...record,
    types: types.join(' ') || 'all',
    signatures: signatures.join(' '),
    ...Object.fromEntries(
      publicKeys.map(({ publicKey }, index) => [`publicKey${index === 0 ? '' : ' before'}`, publicKey]),
    ),
    ...state,
  };
  const devices = table(BLOCKED, blockedDevices, '');
  return (look) => recordText(shown)(look) + (blockedDevices.length === 0 ? '' : `\n${devices(look)}`);
}

/** The secret of an endpoint, or its public key, with what must be done with it. */
function secretText({ endpointId, secret, publicKeys }: Created): Text {
  const publicKey = publicKeys[0]?.publicKey;
  const note =
    secret === null
      ? 'The receiver verifies with the public key, which lapel endpoint show shows as well.'
      : 'The secret is shown only now, and never again. The receiver verifies with it.';
  return (look) => `${recordText({ endpointId, secret, publicKey })(look)}${note}\n`;
}

/** Those of the terms of an endpoint that the command line names. */
function readTerms(given: Given): Partial<Operations['createEndpoint']['input']['body']> {
  const [types, description, rate] = [given.list('type'), given.text('description'), given.text('rate')];
  return {
    ...(types.length > 0 && { types }),
    ...(description !== undefined && { description }),
    ...(given.flag('ordered') && { ordered: 'device' as const }),
    ...(rate !== undefined && { ratePerSecond: readWhole('rate', rate) }),
  };
}

/** The scheme of signatures that the command line names. */
function readSignatures(given: Given): { signatures?: ['v1' | 'v1a'] } {
  const scheme = given.text('signatures');
  return scheme === undefined ? {} : { signatures: [scheme as 'v1' | 'v1a'] };
}

const list: Command = {
  name: 'endpoint list',
  summary: 'Lists the endpoints of the application, and how far behind they are',
  about: 'The URLs of the settings are endpoints as well; --json has them, and lapel settings changes them.',
  options: APPLICATION_OPTIONS,
  examples: ['lapel endpoint list', 'lapel endpoint list --json | jq .endpoints[].state'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const listed = await application.call('list the endpoints', (lapel) => lapel.listEndpoints());
    return { json: { ok: true, ...listed }, text: table(COLUMNS, listed.endpoints, 'There are none.') };
  },
};

const show: Command = {
  name: 'endpoint show',
  arguments: [ENDPOINT],
  summary: 'Shows an endpoint: its terms, its state, and the devices that it holds up',
  options: APPLICATION_OPTIONS,
  examples: [`lapel endpoint show ${EXAMPLE}`],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const endpoint = await application.call(`show ${endpointId}`, (lapel) => lapel.readEndpoint({ endpointId }));
    return { json: { ok: true, ...endpoint }, text: endpointText(endpoint) };
  },
};

const add: Command = {
  name: 'endpoint add',
  arguments: [{ name: 'URL' }],
  summary: 'Makes an endpoint, which gets the events from now on; its secret is shown once',
  about: `Keep the secret: it is shown only now, and never again. With --signatures v1a there is none to keep. To send events
of before, use lapel endpoint replay.`,
  options: { ...TERMS, ...SIGNATURES, ...APPLICATION_OPTIONS },
  examples: [
    "lapel endpoint add https://billing.example.com/lapel --type 'transaction.*' --ordered",
    'lapel endpoint add https://example.com/lapel --signatures v1a --description archive --rate 50',
  ],
  async run(given, terminal) {
    const [url = ''] = given.positionals;
    const body = { url, ...readTerms(given), ...readSignatures(given) };
    const application = await openApplication(given, terminal);
    const made = await application.call('make the endpoint', (lapel) => lapel.createEndpoint({ body }));
    return { json: { ok: true, ...made }, text: secretText(made) };
  },
};

/** The options of a change that take a term away, and what they change it to. */
const REMOVED = {
  type: { types: [] },
  description: { description: '' },
  ordered: { ordered: 'none' },
  rate: { ratePerSecond: null },
} satisfies Record<keyof typeof TERMS, Update>;

const change: Command = {
  name: 'endpoint change',
  arguments: [ENDPOINT],
  summary: 'Changes, enables or disables an endpoint; --no-NAME takes a term away',
  about: `What is not named stays as it is. While an endpoint is disabled, its events wait. To enable it, say with --missed
whether these are sent or skipped.`,
  options: {
    to: { value: 'URL', text: 'send the events to this URL' },
    ...TERMS,
    'no-type': { text: 'send events of all types' },
    'no-description': { text: 'remove the description' },
    'no-ordered': { text: 'send events side by side' },
    'no-rate': { text: 'send events as fast as they come' },
    enable: { text: 'send events again; needs --missed' },
    missed: { value: 'S', choices: ['send', 'skip'], text: 'what happens to the events that the endpoint missed' },
    disable: { text: 'send nothing until it is enabled' },
    ...APPLICATION_OPTIONS,
  },
  examples: [
    `lapel endpoint change ${EXAMPLE} --to https://billing.example.com/v2 --no-rate`,
    `lapel endpoint change ${EXAMPLE} --disable`,
    `lapel endpoint change ${EXAMPLE} --enable --missed send`,
  ],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const [url, missed] = [given.text('to'), given.text('missed')];
    const [enables, disables] = [given.flag('enable'), given.flag('disable')];
    if (enables && disables) throw new UsageError('--disable', 'cannot be combined with --enable');
    if (enables && missed === undefined)
      throw new UsageError('--missed', 'is needed with --enable: send or skip the events that it missed');
    if (!enables && missed !== undefined) throw new UsageError('--missed', 'is only permitted with --enable');
    const body: Update = {
      ...(url !== undefined && { url }),
      ...readTerms(given),
      ...(enables && { enabled: true, missed: missed as 'send' | 'skip' }),
      ...(disables && { enabled: false }),
    };
    for (const [name, removed] of Object.entries(REMOVED)) {
      if (!given.flag(`no-${name}`)) continue;
      if (Object.keys(removed).some((member) => member in body))
        throw new UsageError(`--no-${name}`, `cannot be combined with --${name}`);
      Object.assign(body, removed);
    }
    if (Object.keys(body).length === 0) throw new UsageError('--to', 'is needed, or another option that changes it');
    const application = await openApplication(given, terminal);
    const changed = await application.call(`change ${endpointId}`, (lapel) =>
      lapel.updateEndpoint({ endpointId, body }),
    );
    return { json: { ok: true, ...changed }, text: endpointText(changed) };
  },
};

const secret: Command = {
  name: 'endpoint secret',
  arguments: [ENDPOINT],
  summary: 'Makes another secret or key pair for an endpoint; the secret is shown once',
  about: `For 24 hours notifications are also signed with the former one, so that the receiver can change over. Keep the secret:
it is shown only now, and never again.`,
  options: { ...SIGNATURES, ...APPLICATION_OPTIONS },
  examples: [`lapel endpoint secret ${EXAMPLE}`, `lapel endpoint secret ${EXAMPLE} --signatures v1a`],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const made = await application.call(`replace the secret of ${endpointId}`, (lapel) =>
      lapel.replaceEndpointSecret({ endpointId, body: readSignatures(given) }),
    );
    return { json: { ok: true, ...made }, text: secretText(made) };
  },
};

const test: Command = {
  name: 'endpoint test',
  arguments: [ENDPOINT],
  summary: 'Sends a test event to an endpoint, whatever its types are',
  options: APPLICATION_OPTIONS,
  examples: [`lapel endpoint test ${EXAMPLE}`],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const { eventId } = await application.call('send a test event', (lapel) => lapel.testEndpoint({ endpointId }));
    const text = `sent as ${eventId}; see its state with lapel endpoint deliveries ${endpointId} --limit 1\n`;
    return { json: { ok: true, eventId }, text };
  },
};

const remove: Command = {
  name: 'endpoint delete',
  arguments: [ENDPOINT],
  summary: 'Removes an endpoint; the events that it has not got stay in the stream',
  options: APPLICATION_OPTIONS,
  examples: [`lapel endpoint delete ${EXAMPLE}`],
  async run(given, terminal) {
    const [endpointId = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    await application.call(`delete ${endpointId}`, (lapel) => lapel.deleteEndpoint({ endpointId }));
    return { json: { ok: true, endpointId }, text: `deleted: ${endpointId}\n` };
  },
};

export const ENDPOINT_COMMANDS: readonly Command[] = [list, show, add, change, secret, test, remove];
