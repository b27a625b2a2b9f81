import { randomUUID } from 'node:crypto';
import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { CALLED, createApplicationCalls } from '../customer/application-calls.ts';
import { provision } from '../customer/provision.ts';
import { MAX_DEVICES } from '../fleet/device-ids.ts';
import { UsageError } from '../usage-error.ts';
import { checkNames, HTTP, MQTT, readKeys, readNumber, readOneOf, readText, readUrl } from './arguments.ts';
import { createHandledFleet } from './handled-fleet.ts';
import { createHandlers } from './handlers.ts';
import { NATURE, readNature } from './nature.ts';
import { LARGEST_SEED, readAccount } from './open-device.ts';
import { ADDRESS, readApplication, receiverOf } from './open-receiver.ts';
import type { Application, FleetOptions, ServiceAddresses, SimulatedFleet, WebhookReceiver } from './public.d.ts';

/** Milliseconds in which all devices of a fleet must be activated. */
const ACTIVATION_MILLISECONDS = 60_000;

const OWN = [
  'service',
  'count',
  'accounts',
  'application',
  'activate',
  'developer',
  'enrol',
  'run',
  'receiver',
  'on',
  'trustedKeys',
  'seed',
] as const satisfies readonly (keyof FleetOptions)[];

function readService(given: ServiceAddresses = {}) {
  checkNames('service', given, ['mqtt', 'api', 'admin', 'adminToken']);
  return {
    mqtt: readUrl('service.mqtt', given.mqtt ?? 'mqtt://127.0.0.1:1883', MQTT),
    api: readUrl('service.api', given.api ?? 'http://127.0.0.1:8080', HTTP),
    admin: readUrl('service.admin', given.admin ?? 'http://127.0.0.1:8081', HTTP),
    adminToken: given.adminToken ?? process.env['LAPEL_ADMIN_TOKEN'],
  };
}

/** Checks the options of a fleet that belong together. */
function readFleet(options: FleetOptions) {
  checkNames('fleet', options, [...OWN, ...NATURE]);
  const { count, accounts, application, activate, receiver = {}, seed = 1 } = options;
  if ((count === undefined) === (accounts === undefined))
    throw new UsageError('count', 'is needed, or accounts instead, and not both');
  if (accounts !== undefined && (!Array.isArray(accounts) || accounts.length === 0))
    throw new UsageError('accounts', 'is not a list of { deviceId, credential } with at least one entry');
  checkNames('receiver', receiver, ADDRESS);
  if (accounts && activate === true && !application)
    throw new UsageError('application', 'is needed to activate devices of accounts');
  const read = accounts?.map((account, at) => readAccount(`accounts[${at}].`, account));
  const twice = read?.findIndex(({ deviceId }, at) => read.findIndex((one) => one.deviceId === deviceId) < at) ?? -1;
  if (twice >= 0) throw new UsageError(`accounts[${twice}].deviceId`, 'is in the list twice');
  return {
    service: readService(options.service),
    count: count === undefined ? 0 : readNumber('count', count, { min: 1, max: MAX_DEVICES, whole: true }),
    accounts: read,
    application: application && readApplication(application),
    activate: activate ?? true,
    enrol: options.enrol === undefined ? undefined : readText('enrol', options.enrol),
    developerId: readText('developer', options.developer ?? 'simulated'),
    run: readText('run', options.run ?? `test-${randomUUID().slice(0, 8)}`),
    receiver,
    seed: readNumber('seed', seed, { min: 0, max: LARGEST_SEED, whole: true }),
    nature: readNature(options),
    trustedKeys: readKeys('trustedKeys', options.trustedKeys),
    common: createHandlers(options.on),
  };
}

type Read = ReturnType<typeof readFleet>;

/** Registers the devices with an application, unless both are given. `clean` removes all that was registered. */
async function registered({ accounts, application, service, count, enrol: code, ...names }: Read) {
  if (accounts) return { accounts, application: application ?? null, clean: async () => {} };
  const token = readText('service.adminToken', service.adminToken);
  const places = Array.from({ length: count }, (_, place) => place);
  const enrol = code === undefined ? undefined : { api: service.api, code };
  return provision({ ...names, enrol, adminUrl: service.admin, token, application, places });
}

/** Makes a fleet, registers and activates its devices, and connects them. Throws a UsageError for a wrong option. */
export async function openFleet(options: FleetOptions = {}): Promise<SimulatedFleet> {
  const read = readFleet(options);
  const { service, seed, nature, trustedKeys, common } = read;
  await using stack = new AsyncDisposableStack();
  const { accounts, application: access, clean } = await registered(read);
  stack.defer(clean);
  const application: Application | null = access;
  let receiver: WebhookReceiver | null = null;
  if (application && !read.application) {
    receiver = await receiverOf(service.api, application, read.receiver, { restores: false });
    stack.use(receiver);
  }
  const calls = application && createApplicationCalls(service.api, application);
  const handled = createHandledFleet({ accounts, url: service.mqtt, seed, nature, trustedKeys, common });
  stack.defer(handled.close);
  await handled.connect();
  if (read.activate) await calls?.activate(handled.fleet.devices, ACTIVATION_MILLISECONDS);
  const [first, ...others] = handled.devices;
  const parts = stack.move();
  const close = (): Promise<void> => parts.disposeAsync();

  return {
    devices: [first!, ...others],
    application,
    get receiver() {
      if (receiver) return receiver;
      const why = application
        ? 'was given, so its webhooks go to its own receiver'
        : 'is missing, so there are no webhooks';
      throw new UsageError('application', why);
    },
    troubles: handled.troubles,
    on: common.set,
    async request(operation, input = {}) {
      const name = readOneOf('operation', operation, CALLED);
      if (!calls) throw new UsageError('application', 'is needed, because the request must come from an application');
      return calls.request(name, input);
    },
    counts: () => handled.fleet.counts(),
    idle: () => handled.fleet.idle(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
