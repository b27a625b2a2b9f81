import type { ActionName } from '../customer/action.ts';
import type { Customer } from '../customer/customer.ts';
import { createFleet, type Fleet } from '../fleet/fleet.ts';
import type { DeviceAccount, FleetMember } from '../fleet/member.ts';
import type { Device } from '../model/device.ts';
import type { Memory, RunRecord } from '../report/record.ts';
import type { Timers } from '../timers.ts';
import { startActing } from './acting.ts';
import { type Chapters, createChapters } from './chapters.ts';
import type { Decided } from './decision-log.ts';
import { callOf, type Plan, plansOf } from './plan.ts';
import { startSampling } from './sampler.ts';
import type { Phase, Scenario } from './scenario.ts';
import { SETTLE, START } from './understand.ts';
import { phaseEnd } from './until.ts';
import { standing, verdictsOf } from './verdicts.ts';

const CONNECT_ATTEMPTS = 5;
const TROUBLES_KEPT = 20;
/** Of fewer devices the memory of each is lost in that of the process. */
const ENOUGH_TO_WEIGH = 500;
/** Milliseconds that somebody who ends a run waits for what is not finished. */
const INTERRUPTED_SETTLE = 2000;

/** How a run stands, for those who watch it. */
export interface RunState {
  readonly chapters: () => ReturnType<Chapters['all']>;
  readonly standing: () => ReturnType<typeof standing>;
  readonly phase: () => { name: string; round: number; since: number; duration: number | null };
  readonly milliseconds: () => number;
  readonly samples: () => RunRecord['samples'];
  /** How many faults were played. */
  readonly faults: () => number;
}

/** One device of a run, by its place in the scenario. */
export interface RunMember {
  readonly place: number;
  readonly account: DeviceAccount;
}

interface RunOptions {
  readonly scenario: Scenario;
  /** Those that this process has; all, or those of its shard. */
  readonly members: readonly RunMember[];
  /** Null: nobody asks anything of the devices. */
  readonly customer: Customer | null;
  readonly record: Pick<RunRecord, 'run' | 'startedAt' | 'service' | 'shard'>;
  readonly cleanSessions?: boolean;
  readonly stateFolder?: string | undefined;
  readonly downloadFolder?: string | undefined;
  readonly timers: Timers;
  /** Ends the run before its time. */
  readonly stopped: AbortSignal;
  /** Told of every decision. */
  readonly onDecision?: (decided: Decided) => void;
  /** Told once, when there is something to watch. */
  readonly onBegin?: (state: RunState) => void;
}

/** The members of the fleet: each group has one object of settings. */
function fleetMembers(scenario: Scenario, members: readonly RunMember[]): FleetMember[] {
  const settings = scenario.groups.flatMap(({ name, count, behaviour, absence, equipment, life }) => {
    const shared = { group: name, behaviour, absence, equipment, life };
    return Array.from({ length: count }, () => shared);
  });
  return members.map(({ account, place }) => ({ account, place, settings: settings[place]! }));
}

const weigh = (): number => process.memoryUsage().rss;

/** Runs a scenario to its end, and gives the record of it. Throws an Error in words when nobody could connect. */
export async function runScenario({
  scenario,
  members,
  customer,
  record,
  cleanSessions = false,
  stateFolder,
  downloadFolder,
  timers,
  stopped,
  onDecision = () => {},
  onBegin = () => {},
}: RunOptions): Promise<RunRecord> {
  const began = timers.now();
  const now = (): number => timers.now() - began;
  const troubles: string[] = [];
  let troublesNotShown = 0;
  let skipped = 0;
  let connectRate = 0;
  let current: { name: string; round: number; since: number; duration: number | null } | undefined;
  const memory: { -readonly [Name in keyof Memory]: number } = { before: weigh(), connected: 0, end: 0 };
  const trouble = (text: string): void => {
    if (troubles.length < TROUBLES_KEPT) troubles.push(text);
    else troublesNotShown += 1;
  };

  await using fleet = createFleet({
    members: fleetMembers(scenario, members),
    url: record.service.mqtt,
    seed: scenario.seed,
    connectRate: scenario.connectRate,
    connectAttempts: CONNECT_ATTEMPTS,
    clean: cleanSessions,
    downloadFolder,
    timers,
    ...(stateFolder !== undefined && { stateFolder }),
    onTrouble: (deviceId, text) => trouble(`${deviceId}: ${text}`),
  });
  const byPlace = new Map(fleet.members.map(({ place }, at) => [place, fleet.devices[at]!]));
  customer?.follow(fleet);

  const counts = (): Record<string, number> => {
    const each = memory.connected - memory.before;
    return {
      ...fleet.counts(),
      activated: fleet.devices.reduce((sum, { state }) => sum + (state.activation ? 1 : 0), 0),
      skipped,
      ...(connectRate > 0 && { connectRate }),
      ...(each > 0 && members.length >= ENOUGH_TO_WEIGH && { memoryPerDevice: each / members.length }),
    };
  };
  const figures = (phase?: string) => customer?.ledger.figures(phase) ?? null;
  const chapters = createChapters({ now, counts, figures });
  const sampling = startSampling({
    began,
    timers,
    connected: () => fleet.counts().connected,
    figures: () => figures(),
  });

  function begin(name: string, round = 0, duration: number | null = null): void {
    current = { name, round, since: now(), duration };
    chapters.begin(name);
    customer?.ledger.enter(name);
  }

  async function connect(part: { groups?: readonly string[]; rate: number | null }): Promise<number> {
    const givenUp = await fleet.connect(part);
    for (const { deviceId, error } of givenUp) trouble(`${deviceId}: ${error.message}`);
    const [first] = givenUp;
    if (first && !stopped.aborted && fleet.counts().connected === 0)
      throw new Error(`nobody could connect to ${record.service.mqtt}: ${first.error.message}`);
    return givenUp.length;
  }

  /** Everybody connects, but for those who do in the first phase; and is activated. */
  async function start(): Promise<void> {
    begin(START);
    const later = scenario.phases[0]?.connect?.groups ?? [];
    const groups = scenario.groups.map(({ name }) => name).filter((name) => !later.includes(name));
    const from = now();
    await untilStopped(connect({ groups, rate: scenario.connectRate }));
    const { connected } = fleet.counts();
    connectRate = (1000 * connected) / Math.max(1, now() - from);
    memory.connected = weigh();
    if (!customer || !scenario.activate || stopped.aborted) return;
    const deviceIds = fleet.devices.map(({ deviceId }) => deviceId);
    await untilStopped(customer.activate(deviceIds, START, scenario.activationPatience));
  }

  /** What is asked of a run that was stopped is of no use any more. */
  const untilStopped = (task: Promise<unknown>): Promise<unknown> =>
    Promise.race([
      task,
      new Promise<void>((resolve) => {
        if (stopped.aborted) resolve();
        stopped.addEventListener('abort', () => resolve(), { once: true });
      }),
    ]);

  function act({ action, placeOf, numberOf }: Plan, n: number, phase: Phase): Promise<void> | undefined {
    const place = placeOf(n);
    const device = byPlace.get(place);
    // It is of another process that shares the run.
    if (!device) return undefined;
    const number = numberOf(n);
    onDecision({ place, kind: 'action', key: number, about: phase.name, outcome: action.do });
    if (wear(device, action.do, number)) return undefined;
    const { release } = action;
    const name = action.do as ActionName;
    return customer?.act({ do: name, number, ...(release && { release }) }, device.deviceId, phase.name);
  }

  /** What the person does who wears it; false when that is for the customer to do. */
  function wear(device: Device, doing: string, number: number): boolean {
    if (doing === 'call') device.call(callOf(scenario.seed, number, lifeOf(device)));
    else if (doing === 'uploadFile') device.uploadFile();
    else if (doing === 'pressButton') device.pressButton();
    else if (doing === 'movePeer') device.movePeer();
    else return false;
    return true;
  }
  const groupOf = new Map(fleet.members.map(({ settings }, at) => [fleet.devices[at]!, settings.group]));
  const lifeOf = (device: Device) => scenario.groups.find(({ name }) => name === groupOf.get(device))!.life;

  async function play(phase: Phase, round: number, at: number, ends: Promise<number>[]): Promise<void> {
    begin(phase.name, round, phase.duration);
    const { connect: back, disconnect, receiver } = phase;
    customer?.receiver.play(receiver?.fault ?? null, receiver?.share ?? 1);
    if (disconnect) {
      const occasion = round * scenario.phases.length + at;
      const { groups, share, cut } = disconnect;
      void fleet.away({ groups, share, occasion, how: cut ? 'cut' : 'politely' });
    }
    if (back) {
      const rate = back.rate === undefined ? scenario.connectRate : back.rate;
      connect({ groups: back.groups, rate }).catch((error: Error) => trouble(error.message));
    }
    const plans = plansOf(scenario, round, at);
    const acting = startActing({ plans, timers, act: (plan, n) => act(plan, n, phase) });
    await phaseEnd({ ...phase, fleet, timers, stopped });
    ends.push(acting.stop());
  }

  onBegin({
    chapters: chapters.all,
    standing: () => standing(scenario.expectations, chapters.all()),
    phase: () => current ?? { name: START, round: 0, since: 0, duration: null },
    milliseconds: now,
    samples: sampling.samples,
    faults: () => 0,
  });
  try {
    await start();
    const ends: Promise<number>[] = [];
    for (let round = 0; round < scenario.rounds && !stopped.aborted; round += 1) {
      for (const [at, phase] of scenario.phases.entries()) if (!stopped.aborted) await play(phase, round, at, ends);
    }
    begin(SETTLE, 0, scenario.settle);
    customer?.receiver.play(null);
    for (const left of await Promise.all(ends)) skipped += left;
    await customer?.settle(stopped.aborted ? Math.min(scenario.settle, INTERRUPTED_SETTLE) : scenario.settle);
    return finish(fleet);
  } finally {
    sampling.stop();
  }

  function finish({ devices }: Fleet): RunRecord {
    chapters.end();
    memory.end = weigh();
    const all = chapters.all();
    const ledger = customer?.ledger ?? null;
    for (const { text } of ledger?.troubles() ?? []) trouble(text);
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
      faults: {},
      verdicts: verdictsOf(scenario.expectations, all, { ledger, devices, troubles }),
      memory,
      troubles,
      troublesNotShown,
      interrupted: stopped.aborted,
    };
  }
}
