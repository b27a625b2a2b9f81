import type { KeyObject } from 'node:crypto';
import type { Customer } from '../customer/customer.ts';
import type { Enrolment } from '../customer/enrolment.ts';
import { createOperator } from '../customer/operator.ts';
import { nameOfScope, type Scope } from '../customer/scopes.ts';
import { createFleet } from '../fleet/fleet.ts';
import type { DeviceAccount, FleetMember } from '../fleet/member.ts';
import type { DeviceOptions } from '../model/device-options.ts';
import { CONNECTED_TO, PLAYED } from '../report/figure-names.ts';
import type { Chapter, Memory, RunRecord, Sample } from '../report/record.ts';
import type { ServiceControl } from '../service/service-fault.ts';
import type { Timers } from '../timers.ts';
import { createChapters } from './chapters.ts';
import type { Decided } from './decision-log.ts';
import { watchCredentials } from './given-credentials.ts';
import { memoryPerConnection } from './memory-per-connection.ts';
import { outcomeOf } from './outcome.ts';
import type { OwnPace } from './own-pace.ts';
import { type CurrentPhase, play } from './playing.ts';
import { startSampling } from './sampler.ts';
import { hasBadNetworks, type Scenario } from './scenario.ts';
import { createServiceFaults } from './service-faults.ts';
import type { ServiceWatch } from './service-watch.ts';
import { createTroubles } from './troubles.ts';
import { START } from './understand.ts';
import { inWords, standing, verdictsOf, withAlways } from './verdicts.ts';

const CONNECT_ATTEMPTS = 5;
/**
 * With fewer devices the memory of one device cannot be told from that of the process itself, so it is not reported.
 */
const ENOUGH_TO_WEIGH = 500;

/** The state of a run for its display; times are in milliseconds since the start. */
export interface RunState {
  chapters(): readonly Chapter[];
  standing(): ReturnType<typeof standing>;
  phase(): CurrentPhase & { readonly since: number };
  milliseconds(): number;
  samples(): readonly Sample[];
  /** The number of faults that were played. */
  faults(): number;
}

/** One device of a run; `place` is its index in the scenario. */
export interface RunMember {
  readonly place: number;
  readonly account: DeviceAccount;
}

interface RunOptions {
  readonly scenario: Scenario;
  /** The devices that this process plays. */
  readonly members: readonly RunMember[];
  /** The customer; null if the scenario needs none. */
  readonly customer: Customer | null;
  /** Registers and removes devices during the run; null: the scenario has no such action. */
  readonly enrolment?: Enrolment | null;
  readonly record: Pick<RunRecord, 'run' | 'startedAt' | 'service' | 'shard'>;
  /** The addresses of the nodes for devices. */
  readonly mqtt: readonly string[];
  readonly cleanSessions?: boolean;
  /** Makes the connections of devices; by default with the simulator's own client. */
  readonly createLink?: DeviceOptions['createLink'];
  /** Whether the service has given the devices their credentials for this run: then it must accept them. */
  readonly credentialsAreGiven?: boolean;
  readonly stateFolder?: string | undefined;
  readonly downloadFolder?: string | undefined;
  readonly trustedKeys?: readonly KeyObject[] | undefined;
  readonly timers: Timers;
  readonly own: OwnPace;
  /** Looks at the service while the run lasts; null without a customer. */
  readonly service?: ServiceWatch | null;
  /** Makes the service fail as the phases say; null: this process plays no faults of the service. */
  readonly control?: ServiceControl | null;
  /** Resolves when the service accepts connections; rejects if it stays away. */
  readonly reachable?: () => Promise<void>;
  /** Ends the run early. */
  readonly stopped: AbortSignal;
  /** Called with every random decision about a device, and with every action. */
  readonly onDecision?: (decided: Decided) => void;
  /** Called once, when all of `RunState` can be read. */
  readonly onBegin?: (state: RunState) => void;
}

/** The devices as the fleet needs them. All devices of a group share one object of settings, to save memory. */
function fleetMembers({ groups }: Scenario, members: readonly RunMember[]): FleetMember[] {
  const settings = groups.flatMap(
    ({ name, count, behaviour, absence, equipment, life, isShared, network, clocks, faults }) => {
      const shared = { group: name, behaviour, absence, equipment, life, isShared, network, clocks, faults };
      return Array.from({ length: count }, () => shared);
    },
  );
  return members.map(({ account, place }) => ({ account, place, settings: settings[place]! }));
}

/** The resident memory of this process, in bytes. */
const weigh = (): number => process.memoryUsage().rss;

/** Plays a scenario to its end; resolves to the record of the run. Rejects if no device could connect. */
export async function runScenario({
  scenario,
  members,
  customer,
  enrolment = null,
  record,
  mqtt,
  cleanSessions = false,
  credentialsAreGiven = false,
  createLink,
  stateFolder,
  downloadFolder,
  trustedKeys,
  timers,
  own,
  service = null,
  control = null,
  reachable = async () => {},
  stopped,
  onDecision,
  onBegin = () => {},
}: RunOptions): Promise<RunRecord> {
  const began = timers.now();
  const now = (): number => timers.now() - began;
  const processes = record.shard?.of ?? 1;
  const troubles = createTroubles();
  const devices = scenario.groups.reduce((sum, { count }) => sum + count, 0);
  const isWeighed = service?.counts().memory !== undefined;
  const expectations = withAlways(scenario.expectations, {
    hasCustomer: customer !== null,
    weighed: isWeighed ? devices : null,
    rollsOut: scenario.phases.some(({ rollouts }) => rollouts.length > 0),
    takesEvents: scenario.programs.length > 0,
    ownsService: (control?.crashes ?? null) !== null,
  });
  const named = new Set([
    ...scenario.groups.flatMap(({ faults }) => faults.map(({ fault }): string => fault)),
    ...scenario.phases.flatMap(({ receiver, service: some, programs }) =>
      [...receiver, ...some, ...programs].map(({ fault }): string => fault),
    ),
  ]);
  let skipped = 0;
  let made = 0;
  /** The longest delay with which an action began, in milliseconds: since the last sample, and in the whole run. */
  let behind = { now: 0, most: 0 };
  let loopDelay = 0;
  let connectRate = 0;
  let connectionsAtFirst = 0;
  let current = { name: START, round: 0, duration: null as number | null, since: 0 };
  const memory: { -readonly [Name in keyof Memory]: number } = { before: weigh(), connected: 0, end: 0 };

  await using fleet = createFleet({
    members: fleetMembers(scenario, members),
    url: mqtt,
    seed: scenario.seed,
    connectRate: scenario.connectRate,
    processes,
    connectAttempts: CONNECT_ATTEMPTS,
    badNetworks: hasBadNetworks(scenario),
    clean: cleanSessions,
    ...(createLink && { createLink }),
    downloadFolder,
    trustedKeys,
    timers,
    ...(stateFolder !== undefined && { stateFolder }),
    ...(customer && { keyOf: customer.keyOf }),
    phase: () => current.name,
    look: customer?.ledger.look,
    ...(onDecision && {
      onDecision: (place, { occasion: { kind, operation, key }, about, outcome }) =>
        onDecision({ place, kind, operation, key, about, outcome }),
    }),
    onTrouble: (deviceId, text) => troubles.add(`${deviceId}: ${text}`),
  });
  customer?.follow(fleet);
  control?.onRestored?.(({ begunAgo }) => {
    customer?.restored(timers.now() - begunAgo);
    for (const device of fleet.devices) device.conformance.restored();
  });
  control?.onAway?.((isAway) => customer?.receiver.suspend(isAway));
  const serviceFaults =
    control &&
    createServiceFaults({
      control,
      timers,
      stopped,
      reachable,
      onAway() {
        customer?.receiver.suspend(true);
        service?.suspend(true);
      },
      onBack() {
        customer?.receiver.suspend(false);
        service?.suspend(false);
      },
      onTrouble: (text) => troubles.add(text),
    });
  const credentials = watchCredentials({
    fleet,
    areGiven: credentialsAreGiven,
    mayChange: () => enrolment !== null && current.name !== START,
  });
  const operator =
    enrolment &&
    customer &&
    createOperator({ fleet, customer, enrolment, timers, stopped, onTrouble: (text) => troubles.add(text) });
  /** How often each fault of devices, of the receiver and of the service was played. */
  const faultsPlayed = (): Record<string, number> => ({
    ...fleet.counts().faults,
    ...customer?.receiver.played(),
    ...customer?.programs.played(),
    ...serviceFaults?.played,
  });

  const counts = (): Record<string, number> => {
    const each = (memory.connected - memory.before) / members.length;
    const { faults: _, connectionsOfNodes, ...rest } = fleet.counts();
    const ofNodes = connectionsOfNodes.map((count, node): [string, number] => [`${CONNECTED_TO}${node + 1}`, count]);
    const faults = faultsPlayed();
    const connections = rest.connections - connectionsAtFirst;
    const perConnection = memoryPerConnection({ connections, processes, kept: service?.counts().memoryKept });
    return {
      ...rest,
      ...(ofNodes.length > 1 && Object.fromEntries(ofNodes)),
      activated: fleet.devices.reduce((sum, { state }) => sum + (state.activation ? 1 : 0), 0),
      planned: made + skipped,
      made,
      skipped,
      ownStandstill: own.standstill,
      ownFull: own.full,
      ownStarved: own.starved,
      ...service?.counts(),
      ...Object.fromEntries([...named].map((fault) => [PLAYED + fault, faults[fault] ?? 0])),
      ...(perConnection !== undefined && { memoryPerConnection: perConnection }),
      ...(connectRate > 0 && { connectRate }),
      ...(serviceFaults && { recovery: serviceFaults.recovery }),
      ...(control?.crashes && { crashes: control.crashes.length }),
      ...(each > 0 && members.length >= ENOUGH_TO_WEIGH && { memoryPerDevice: each }),
    };
  };
  const figures = (phase?: string, scope?: Scope) => customer?.ledger.figures(phase, scope) ?? null;
  const scopes = expectations.map(({ scope }) => scope).filter((scope) => nameOfScope(scope) !== '');
  const chapters = createChapters({ now, counts, figures, scopes });
  const sampling = startSampling({
    began,
    timers,
    connected: () => fleet.counts().connected,
    figures: () => figures(),
    own() {
      const looked = own.look();
      const late = behind.now;
      loopDelay = Math.max(loopDelay, looked.loopDelay);
      behind = { ...behind, now: 0 };
      return { ...looked, behind: late };
    },
  });
  onBegin({
    chapters: chapters.all,
    standing: () => standing(expectations, chapters.all()),
    phase: () => current,
    milliseconds: now,
    samples: sampling.samples,
    faults: () => Object.values(faultsPlayed()).reduce((sum, some) => sum + some, 0),
  });

  try {
    await play({
      scenario,
      fleet,
      customer,
      operator,
      timers,
      stopped,
      troubles,
      serviceFaults,
      mqtt: record.service.mqtt,
      onDecision,
      onPhase(phase) {
        current = { ...phase, since: now() };
        chapters.begin(phase.name);
        customer?.ledger.enter(phase.name);
      },
      onConnected(perSecond) {
        connectRate = perSecond;
        memory.connected = weigh();
        connectionsAtFirst = fleet.counts().connections;
        void service?.weigh(true);
      },
      onMade(late) {
        made += 1;
        behind = { now: Math.max(behind.now, late), most: Math.max(behind.most, late) };
      },
      onSkipped(actions) {
        skipped += actions;
      },
      onGivenUp: credentials.onGivenUp,
    });
  } finally {
    sampling.stop();
  }
  await service?.weigh();
  chapters.end();
  memory.end = weigh();
  const all = chapters.all();
  const ledger = customer?.ledger ?? null;
  for (const text of control?.crashes ?? []) troubles.add(text);
  // A service that is away answers no call, whatever device it is about: one line for all of them.
  for (const trouble of ledger?.troubles() ?? [])
    troubles.add(trouble.kind === 'error' ? trouble.text : inWords(trouble));
  if (control?.crashes) ledger?.look('service-ends');
  const crashes = control?.crashes ?? [];
  const witnesses = { ledger, devices: fleet.devices, service, began, crashes, troubles: troubles.texts };
  return {
    format: 1,
    scenario: scenario.name,
    about: scenario.about,
    ...record,
    seed: scenario.seed,
    milliseconds: now(),
    groups: scenario.groups.map(({ name, count }) => ({ name, devices: count })),
    chapters: all,
    samples: sampling.samples(),
    faults: faultsPlayed(),
    rollouts: customer?.rollouts() ?? [],
    ...(ledger && { looks: ledger.looks() }),
    ...outcomeOf({
      verdicts: verdictsOf(expectations, all, witnesses),
      requirements: verdictsOf(scenario.requirements, all, witnesses),
      interrupted: stopped.aborted,
    }),
    own: { standstill: own.standstill, full: own.full, loopDelay, behind: behind.most },
    memory,
    troubles: troubles.texts,
    troublesNotShown: troubles.notShown,
  };
}
