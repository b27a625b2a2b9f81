import type { ActionName } from '../customer/action.ts';
import type { Customer } from '../customer/customer.ts';
import { isOperators, type Operator } from '../customer/operator.ts';
import type { Fleet, GivenUp } from '../fleet/fleet.ts';
import type { Timers } from '../timers.ts';
import { startActing } from './acting.ts';
import type { Decided } from './decision-log.ts';
import { type Plan, plansOf } from './plan.ts';
import type { Phase, Scenario } from './scenario.ts';
import type { ServiceFaults } from './service-faults.ts';
import type { Troubles } from './troubles.ts';
import { SETTLE, START } from './understand.ts';
import { phaseEnd } from './until.ts';
import { isWorn, wear } from './wearing.ts';

/** Milliseconds that a run waits for unfinished transactions after Ctrl-C. */
const INTERRUPTED_SETTLE = 2000;

/** The current phase; its duration is in milliseconds, and null while it has no fixed end. */
export interface CurrentPhase {
  readonly name: string;
  readonly round: number;
  readonly duration: number | null;
}

interface PlayOptions {
  readonly scenario: Scenario;
  readonly fleet: Fleet;
  readonly customer: Customer | null;
  /** Null: the scenario has no action of the operator. */
  readonly operator: Operator | null;
  readonly timers: Timers;
  readonly stopped: AbortSignal;
  readonly troubles: Troubles;
  /** Null: the scenario has no faults of the service, or another process of the run plays them. */
  readonly serviceFaults: ServiceFaults | null;
  /** The MQTT address of the service. */
  readonly mqtt: string;
  readonly onDecision: ((decided: Decided) => void) | undefined;
  readonly onPhase: (phase: CurrentPhase) => void;
  /** Called when every device has connected or given up, with the measured connections per second. */
  readonly onConnected: (perSecond: number) => void;
  /** Called when an action begins, with the milliseconds by which it began too late. */
  readonly onMade: (behind: number) => void;
  /** Called at the end of a phase with the number of its actions that were due and did not begin. */
  readonly onSkipped: (actions: number) => void;
  /** Called with each device that could not connect. True: that is a breach of the contract, which was counted. */
  readonly onGivenUp: (givenUp: GivenUp) => boolean;
}

/** Resolves when the task ends or when the signal is aborted, whichever comes first. */
function unlessStopped(task: Promise<unknown>, stopped: AbortSignal): Promise<unknown> {
  if (stopped.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  stopped.addEventListener('abort', () => resolve(), { once: true });
  return Promise.race([task, promise]);
}

/**
 * Plays a scenario: 1. all devices connect and are activated; 2. the phases, in their rounds; 3. waits for all results.
 */
export async function play(options: PlayOptions): Promise<void> {
  const { scenario, fleet, customer, stopped, onPhase } = options;
  await start(options);
  const ends: Promise<unknown>[] = [];
  for (let round = 0; round < scenario.rounds && !stopped.aborted; round += 1) {
    for (const at of scenario.phases.keys()) if (!stopped.aborted) await playPhase(options, round, at, ends);
  }
  onPhase({ name: SETTLE, round: 0, duration: scenario.settle });
  customer?.receiver.play([]);
  fleet.degrade(new Map(), 0);
  // From now on no call, upload or other event begins on a device, because the run may end before the webhook of the
  // event arrives.
  fleet.rest();
  await Promise.all(ends);
  await customer?.settle(stopped.aborted ? Math.min(scenario.settle, INTERRUPTED_SETTLE) : scenario.settle);
}

async function connect(
  { fleet, troubles, stopped, mqtt, onGivenUp }: PlayOptions,
  part: { groups?: readonly string[]; rate: number | null },
): Promise<void> {
  const givenUp = await fleet.connect(part);
  for (const { deviceId, error } of givenUp) troubles.add(`${deviceId}: ${error.message}`);
  const breaches = givenUp.filter(onGivenUp).length;
  const [first] = givenUp;
  if (first && breaches < givenUp.length && !stopped.aborted && fleet.counts().connections === 0)
    throw new Error(`nobody could connect to ${mqtt}: ${first.error.message}`);
}

async function start(options: PlayOptions): Promise<void> {
  const { scenario, fleet, customer, timers, stopped, onPhase, onConnected } = options;
  onPhase({ name: START, round: 0, duration: null });
  const from = timers.now();
  await unlessStopped(connect(options, { rate: scenario.connectRate }), stopped);
  onConnected((1000 * fleet.counts().connected) / Math.max(1, timers.now() - from));
  if (!customer || !scenario.activate || stopped.aborted) return;
  const deviceIds = fleet.devices.map(({ deviceId }) => deviceId);
  await unlessStopped(customer.activate(deviceIds, START, scenario.activationPatience), stopped);
}

/**
 * Begins to take devices offline or back online, as the phase says. Does not wait for them, because a phase must not
 * last longer than its duration.
 */
function moveDevices(options: PlayOptions, { connect: back, disconnect }: Phase, occasion: number): void {
  const { scenario, fleet, troubles } = options;
  const failed = (error: Error): void => troubles.add(error.message);
  if (disconnect) {
    const { groups, share, cut } = disconnect;
    fleet.away({ groups, share, occasion, how: cut ? 'cut' : 'politely' }).catch(failed);
  }
  if (back) {
    const rate = back.rate === undefined ? scenario.connectRate : back.rate;
    connect(options, { groups: back.groups, rate }).catch(failed);
  }
}

async function playPhase(options: PlayOptions, round: number, at: number, ends: Promise<unknown>[]): Promise<void> {
  const { scenario, fleet, customer, timers, stopped, onPhase, onMade, onSkipped } = options;
  const phase = scenario.phases[at]!;
  onPhase({ name: phase.name, round, duration: phase.duration });
  customer?.receiver.play(phase.receiver);
  customer?.programs.play(phase.programs);
  options.serviceFaults?.begin(phase.service);
  const occasion = round * scenario.phases.length + at;
  moveDevices(options, phase, occasion);
  fleet.degrade(phase.networks, occasion + 1);
  const byPlace = new Map(fleet.members.map(({ place }, index) => [place, index]));
  const acting = startActing({
    plans: plansOf(scenario, round, at),
    timers,
    // This process carries out only the actions on its own devices.
    isMine: (plan, n) => byPlace.has(plan.placeOf(n)),
    act(plan, n, due) {
      onMade(timers.now() - due);
      return act(options, phase, plan, { n, due, index: byPlace.get(plan.placeOf(n))! });
    },
  });
  const startingRollouts = startRollouts(options, phase, ends);
  await phaseEnd({ ...phase, fleet, timers, stopped });
  // A service that is still away would spoil the next phase.
  await options.serviceFaults?.over();
  // The next phase begins on time, while calls of this one may still be in progress.
  const { left, answered } = acting.stop();
  onSkipped(left + startingRollouts.stop());
  ends.push(answered);
}

/**
 * Starts the rollouts of a phase, each once at its time. `stop` takes back those whose time has not come, and returns
 * their number.
 */
function startRollouts(
  { customer, timers, onMade }: PlayOptions,
  { name, rollouts }: Phase,
  ends: Promise<unknown>[],
): { stop(): number } {
  let left = rollouts.length;
  const cancels = rollouts.map(({ after, plan }) => {
    const due = timers.now() + after;
    return timers.after(after, () => {
      left -= 1;
      onMade(timers.now() - due);
      if (customer) ends.push(customer.rollOut(plan, name));
    });
  });
  return {
    stop() {
      for (const cancel of cancels) cancel();
      return left;
    },
  };
}

/** Begins the n-th repetition of an action, on the device at this index of the process's devices. */
function act(
  { scenario, fleet, customer, operator, onDecision }: PlayOptions,
  phase: Phase,
  { action, numberOf }: Plan,
  { n, due, index }: { n: number; due: number; index: number },
): Promise<void> | undefined {
  const device = fleet.devices[index]!;
  const { place, settings } = fleet.members[index]!;
  const number = numberOf(n);
  onDecision?.({ place, kind: 'action', key: number, about: phase.name, outcome: action.do });
  if (isWorn(action.do)) {
    const { life } = scenario.groups.find(({ name }) => name === settings.group)!;
    wear(action.do, device, scenario.seed, number, life);
    return undefined;
  }
  if (isOperators(action.do)) return operator?.act(action.do, index, phase.name, number);
  const { release, terms, values = [] } = action;
  const row = values[place % Math.max(1, values.length)];
  const doing = action.do as ActionName;
  return customer?.act(
    { do: doing, number, ...(release && { release }), ...(terms && { terms }), ...(row && { values: row }) },
    device.deviceId,
    phase.name,
    due,
  );
}
