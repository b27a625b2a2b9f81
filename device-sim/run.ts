import { writeFileSync } from 'node:fs';
import { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import type { RunSettings } from './command-line.ts';
import { readAccounts, readToken, saveAccounts } from './customer/accounts.ts';
import { certificateOf, type HeldCertificate } from './customer/certificates.ts';
import { type Customer, createCustomer } from './customer/customer.ts';
import { createEnrolment, type Enrolment } from './customer/enrolment.ts';
import { isOperators } from './customer/operator.ts';
import { type ApplicationAccess, provision } from './customer/provision.ts';
import { registerDevices, removeDevices, seedOfRun } from './customer/registration.ts';
import { createRenewals } from './customer/renewals.ts';
import { createAdminClient } from './customer/service-client.ts';
import { requireWritable } from './files-of-options.ts';
import type { DeviceAccount } from './fleet/member.ts';
import type { DeviceOptions } from './model/device-options.ts';
import { createLink } from './mqtt/mqtt-link.ts';
import { recorded } from './recording/recorded-link.ts';
import { createRecorder } from './recording/recorder.ts';
import { openFigures } from './report/open-figures.ts';
import type { RunRecord } from './report/record.ts';
import { decisionLog } from './scenario/decision-log.ts';
import { devicesStay, needsCustomer } from './scenario/needs.ts';
import { type OwnPace, startOwnPace } from './scenario/own-pace.ts';
import { reach } from './scenario/reach.ts';
import { type RunMember, type RunState, runScenario } from './scenario/run-scenario.ts';
import { type Group, hasBadNetworks, type Scenario } from './scenario/scenario.ts';
import { type ServiceWatch, watchService } from './scenario/service-watch.ts';
import type { ServiceControl } from './service/service-fault.ts';
import { serviceControl } from './service-control.ts';
import { createTimerWheel } from './timer-wheel.ts';
import { systemTimers, type Timers } from './timers.ts';
import { trust } from './trust.ts';
import { UsageError } from './usage-error.ts';
import { type LiveStream, watch } from './watch.ts';

/** Milliseconds in which a service that the run starts must accept connections, at least. */
const START_MILLISECONDS = 30_000;
/** Milliseconds in which the service must accept connections again after a fault. */
const RECOVERY_MILLISECONDS = 60_000;

/** The devices of a run, and the application of its customer (null if it has none). */
interface Cast {
  readonly members: readonly RunMember[];
  readonly application: ApplicationAccess | null;
  readonly admin: { url: string; token: string } | undefined;
  /** Registers and removes devices during the run; null if the scenario does not need it. */
  readonly enrolment: Enrolment | null;
  /** A device of another developer; undefined if none is known. */
  readonly neighbour: string | undefined;
  clean(): Promise<void>;
}

const countOf = ({ groups }: Scenario): number => groups.reduce((sum, { count }) => sum + count, 0);

/** The indexes, in the whole fleet, of the devices that this process plays. */
function placesOf({ scenario, shard }: RunSettings): number[] {
  const places = Array.from({ length: countOf(scenario) }, (_, place) => place);
  return shard ? places.filter((place) => place % shard.of === shard.index - 1) : places;
}

/**
 * Registers the devices or reads them from a file, and gets an application if the scenario needs a customer. Rejects
 * with a UsageError if the devices belong to another developer or another run.
 */
async function castOf(settings: RunSettings): Promise<Cast> {
  const { accounts: source, scenario, application, run, shard } = settings;
  const places = placesOf(settings);
  const wanted = needsCustomer(scenario);
  const hasOperator = scenario.phases.some(({ actions }) => actions.some((action) => isOperators(action.do)));
  if (source.kind === 'file') {
    if (hasOperator)
      throw new UsageError('--devices', 'cannot be used, because the scenario registers or removes devices by --admin');
    if (wanted && !application)
      throw new UsageError('--application', 'is needed with --devices, because the scenario needs a customer');
    const all = readAccounts(source.file, source.limit);
    if (all.length < countOf(scenario))
      throw new UsageError(
        '--devices',
        `${source.file} has ${all.length} devices; the scenario needs ${countOf(scenario)}`,
      );
    const members = places.map((place) => ({ place, account: all[place]! }));
    return {
      members,
      application: wanted && application ? application : null,
      admin: undefined,
      enrolment: null,
      neighbour: undefined,
      clean: async () => {},
    };
  }
  const { adminUrl, developerId, token, code } = source;
  const admin = { url: adminUrl, token: typeof token === 'string' ? token : readToken(token.dataDir) };
  const models = scenario.groups.flatMap(({ count, model }) => Array.from({ length: count }, () => model));
  const [api = ''] = settings.api;
  const names = {
    developerId,
    run,
    seed: scenario.seed,
    places,
    model: (place: number) => models[place] ?? 'SIM-1',
    enrol:
      code === undefined ? undefined : { api, code, certificates: source.csr ? settings.certificateFolder : undefined },
  };
  const membersOf = (made: readonly DeviceAccount[]): RunMember[] =>
    made.map((account, at) => ({ account, place: places[at]! }));
  if (!wanted) {
    const client = createAdminClient({ baseUrl: adminUrl, token: admin.token });
    const made = await registerDevices(client, { adminUrl, token: admin.token }, names);
    const deviceIds = made.map(({ deviceId }) => deviceId);
    return {
      members: membersOf(made),
      application: null,
      admin,
      enrolment: null,
      neighbour: undefined,
      clean: () => removeDevices(client, deviceIds),
    };
  }
  const part = shard ? ` (${shard.index} of ${shard.of})` : '';
  const made = await provision({ adminUrl, token: admin.token, application, part, ...names });
  const enrolment = hasOperator ? createEnrolment({ adminUrl, token: admin.token, api }, names) : null;
  return {
    members: membersOf(made.accounts),
    application: made.application,
    admin,
    enrolment,
    neighbour: made.neighbour,
    async clean() {
      if (enrolment)
        await removeDevices(createAdminClient({ baseUrl: adminUrl, token: admin.token }), [
          ...enrolment.registered.keys(),
        ]);
      await made.clean();
    },
  };
}

function customerOf(
  settings: RunSettings,
  { members, application, admin, enrolment, neighbour }: Cast,
  timers: Timers,
  { own, serviceStoodStill }: { own: OwnPace; serviceStoodStill: (from: number, to: number) => number },
): Customer | null {
  if (!application) return null;
  const { api, mqtt, scenario, webhook, authenticationKey } = settings;
  const groups = scenario.groups.flatMap((group) => Array<Group>(group.count).fill(group));
  const placeOf = new Map(members.map(({ place, account: { deviceId } }) => [deviceId, place]));
  const groupOf = (deviceId: string): Group | undefined =>
    groups[placeOf.get(deviceId) ?? enrolment?.registered.get(deviceId) ?? -1];
  return createCustomer({
    apiUrl: api,
    application,
    neighbour,
    authenticationKey,
    listen: { host: webhook.host, port: webhook.port },
    publicUrl: webhook.publicUrl,
    admin,
    lateAfter: scenario.lateAfter,
    seed: seedOfRun(scenario.seed, settings.run),
    timers,
    stoodStill: own.stoodStill,
    serviceStoodStill,
    nodes: mqtt,
    groupOf: (deviceId) => groupOf(deviceId)?.name,
    tagsOf: (deviceId) => groupOf(deviceId)?.deviceTags ?? {},
    devicesStay: devicesStay(scenario),
    programs: scenario.programs,
  });
}

/** The devices with their client certificates. Throws a UsageError if the run cannot use any. */
function withCertificates(
  members: readonly RunMember[],
  { certificateFolder, mqtt }: RunSettings,
): readonly RunMember[] {
  if (certificateFolder === undefined) return members;
  if (!mqtt.every((url) => /^(mqtts|wss):/.test(url)))
    throw new UsageError('--certificates', 'needs --mqtt with mqtts: or wss:, because certificates need TLS');
  const equipped = members.map(({ place, account }) => ({
    place,
    account: { ...account, certificate: certificateOf(certificateFolder, account.deviceId) },
  }));
  if (!equipped.some(({ account }) => account.certificate))
    throw new UsageError('--certificates', `${certificateFolder} has no certificate of a device of this run`);
  return equipped;
}

/** Renews the certificates of a run whose devices have enrolled with a certification request; undefined for other runs. */
function renewalsOf(
  { accounts, api, certificateFolder: folder }: RunSettings,
  members: readonly RunMember[],
  timers: Timers,
) {
  const [first = ''] = api;
  if (accounts.kind !== 'register' || !accounts.csr || folder === undefined || !first.startsWith('https:'))
    return undefined;
  const held = new Map<string, HeldCertificate>();
  for (const { account } of members) if (account.certificate) held.set(account.deviceId, account.certificate);
  const onFailure = ({ message }: Error): void => void process.stderr.write(`${message}\n`);
  return createRenewals({ api: first, folder, held, timers, onFailure });
}

/** The state of the run, in the form that the display on the terminal needs. */
function shown(state: RunState, scenario: Scenario) {
  const [whole] = state.chapters();
  return {
    scenario: scenario.name,
    milliseconds: state.milliseconds(),
    phase: state.phase(),
    rounds: scenario.rounds,
    whole: whole!,
    sample: state.samples().at(-1),
    faults: state.faults(),
    expectations: state
      .standing()
      .map(({ expectation, holds, shown: value }) => ({ ...expectation, holds, shown: value })),
  };
}

/**
 * Loads the mqtt package if `--client` asks for it. Rejects with a UsageError if the package cannot play the scenario.
 */
async function linksOf({ client, scenario }: RunSettings): Promise<DeviceOptions['createLink']> {
  if (client === 'lean') return undefined;
  const { createPackageLink, NOT_WITH_PACKAGE } = await import('./mqtt/package-link.ts');
  const faults = scenario.groups.flatMap((group) => group.faults.map(({ fault }) => fault));
  const impossible = faults.find((fault) => NOT_WITH_PACKAGE.includes(fault));
  if (hasBadNetworks(scenario))
    throw new UsageError('--client', 'the mqtt package cannot play bandwidth, losses or bad networks');
  if (impossible !== undefined) throw new UsageError('--client', `the mqtt package cannot play ${impossible}`);
  return createPackageLink;
}

/** Plays a run to its end, and returns its record. Does not check whether the service can be reached. */
async function runThrough(
  settings: RunSettings,
  {
    stopped,
    stream,
    timers,
    control,
    reachable,
    onNote,
  }: {
    stopped: AbortSignal;
    stream: LiveStream;
    timers: Timers;
    control: ServiceControl | null;
    reachable: () => Promise<void>;
    onNote: (note: string) => void;
  },
): Promise<RunRecord> {
  const { scenario, mqtt, api, shard } = settings;
  await using stack = new AsyncDisposableStack();
  const figures = await openFigures(settings, stack, onNote);
  const links = await linksOf(settings);
  const cast = await castOf(settings);
  if (settings.clean) stack.defer(() => cast.clean());
  if (settings.saveFile !== undefined)
    saveAccounts(
      settings.saveFile,
      cast.members.map(({ account }) => account),
    );
  const recorder =
    settings.recordFile === undefined ? null : createRecorder({ file: settings.recordFile, run: settings.run, timers });
  if (recorder) stack.defer(() => onNote(recorder.close()));
  const own = startOwnPace(timers);
  stack.defer(own.stop);
  let service: ServiceWatch | null = null;
  const serviceStoodStill = (from: number, to: number): number => service?.stoodStill(from, to) ?? 0;
  const customer = customerOf(settings, cast, timers, { own, serviceStoodStill });
  if (customer) {
    stack.use(customer);
    if (settings.clean) stack.defer(() => customer.clean());
    await customer.start();
  }
  service = customer
    ? watchService({
        api: api[0] ?? '',
        admin: cast.admin,
        timers,
        stoodStill: own.stoodStill,
        heldUp: own.heldUp,
        look: customer.ledger.look,
      })
    : null;
  stack.defer(() => service?.stop());
  await service?.weigh();
  const members = withCertificates(cast.members, settings);
  const renewals = renewalsOf(settings, members, timers);
  stack.defer(() => renewals?.stop());
  await renewals?.start();
  const log = settings.decisionsFile === undefined ? null : decisionLog();
  let unwatch = (): void => {};
  try {
    const record = await runScenario({
      scenario,
      members,
      customer,
      enrolment: cast.enrolment,
      record: {
        run: settings.run,
        startedAt: new Date().toISOString(),
        service: { api: customer ? api.join(', ') : null, mqtt: mqtt.join(', ') },
        shard,
      },
      mqtt,
      cleanSessions: settings.cleanSessions,
      credentialsAreGiven: settings.accounts.kind === 'register',
      ...(links && { createLink: links }),
      ...(recorder && { createLink: recorded(links ?? createLink, recorder) }),
      stateFolder: settings.stateFolder,
      downloadFolder: settings.downloadFolder,
      trustedKeys: settings.trustedKeys,
      timers,
      own,
      service,
      control,
      reachable,
      stopped,
      ...(log && { onDecision: log.add }),
      onBegin: (state) => {
        unwatch = watch({ standing: () => shown(state, scenario), stream, timers });
        figures.show(state);
      },
    });
    if (log && settings.decisionsFile !== undefined) writeFileSync(settings.decisionsFile, log.text());
    return record;
  } finally {
    unwatch();
  }
}

/**
 * Resolves when `reached` does: it looks for the service until its signal is aborted. Rejects with a UsageError if a
 * command of `--service` ends before.
 */
async function started(
  reached: (stopped: AbortSignal) => Promise<void>,
  { crashed }: ServiceControl,
  stopped: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const early = await Promise.race([reached(AbortSignal.any([stopped, over.signal])), crashed]);
  over.abort();
  if (early !== undefined) throw new UsageError('--service', early);
}

/**
 * One run, from getting the devices to removing them. It ends as its scenario says, or when `stopped` is aborted.
 * `gone`: the service could not be reached at the end. `notes`: sentences about files that the run has written.
 * Rejects with Unreachable if the service cannot be reached at the start, or at a failure; with a UsageError if an
 * option is wrong.
 */
export async function run(
  settings: RunSettings,
  { stopped, stream }: { stopped: AbortSignal; stream: LiveStream },
): Promise<{ record: RunRecord; gone: Error | null; notes: readonly string[] }> {
  const { scenario, mqtt, api, accounts, wait } = settings;
  const timers = createTimerWheel(systemTimers);
  if (settings.decisionsFile !== undefined) requireWritable('decisions', settings.decisionsFile);
  if (settings.caFile !== undefined) trust(settings.caFile);
  const addresses = [
    ...(accounts.kind === 'register' ? [accounts.adminUrl] : []),
    ...(needsCustomer(scenario) ? api : []),
    ...mqtt,
  ];
  const there = (patience: number, until = stopped): Promise<void> =>
    reach(addresses, { patience, timers, stopped: until });
  await using control = serviceControl(settings, { timers, stopped });
  if (control) await started((until) => there(Math.max(wait, START_MILLISECONDS), until), control, stopped);
  else await there(wait);
  try {
    const reachable = (): Promise<void> => there(RECOVERY_MILLISECONDS);
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    const record = await runThrough(settings, { stopped, stream, timers, control, reachable, onNote });
    const gone = await there(wait).then(
      () => null,
      (error: Error) => error,
    );
    return { record, gone, notes };
  } catch (error) {
    // The run has failed. If the service cannot be reached now, Unreachable is thrown instead of the failure, because
    // it explains the failure.
    await there(0);
    throw error;
  }
}
