import type { ActionName } from '../customer/action.ts';
import type { Customer } from '../customer/customer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Timers } from '../timers.ts';
import { startActing } from './acting.ts';
import type { Decided } from './decision-log.ts';
import { type Plan, plansOf } from './plan.ts';
import type { Phase, Scenario } from './scenario.ts';
import type { Troubles } from './troubles.ts';
import { SETTLE, START } from './understand.ts';
import { phaseEnd } from './until.ts';
import { isWorn, wear } from './wearing.ts';

/** How long a run that was ended early waits for unfinished transactions, in milliseconds. */
const INTERRUPTED_SETTLE = 2000;

/** The current phase, in milliseconds. */
export interface CurrentPhase {
  readonly name: string;
  readonly round: number;
  readonly duration: number | null;
}

interface PlayOptions {
  readonly scenario: Scenario;
  readonly fleet: Fleet;
  readonly customer: Customer | null;
  readonly timers: Timers;
  readonly stopped: AbortSignal;
  readonly troubles: Troubles;
  /** The MQTT address of the service. */
  readonly mqtt: string;
  readonly onDecision: ((decided: Decided) => void) | undefined;
  readonly onPhase: (phase: CurrentPhase) => void;
  /** Called when all devices are connected, as far as they could; with the rate per second. */
  readonly onConnected: (perSecond: number) => void;
  /** Called when an action begins, with its delay in milliseconds. */
  readonly onMade: (behind: number) => void;
  /** Called with the number of due actions of the current phase that were not begun. */
  readonly onSkipped: (actions: number) => void;
}

/** Resolves with the task, or when the signal is aborted. */
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
  customer?.receiver.play(null);
  // Nothing new may begin now, because it would have no time to end.
  fleet.rest();
  await Promise.all(ends);
  await customer?.settle(stopped.aborted ? Math.min(scenario.settle, INTERRUPTED_SETTLE) : scenario.settle);
}

async function connect(
  { fleet, troubles, stopped, mqtt }: PlayOptions,
  part: { groups?: readonly string[]; rate: number | null },
): Promise<void> {
  const givenUp = await fleet.connect(part);
  for (const { deviceId, error } of givenUp) troubles.add(`${deviceId}: ${error.message}`);
  const [first] = givenUp;
  if (first && !stopped.aborted && fleet.counts().connected === 0)
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

/** Devices go offline and come back in the background, so a phase does not last longer because of it. */
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
  customer?.receiver.play(phase.receiver?.fault ?? null, phase.receiver?.share ?? 1);
  moveDevices(options, phase, round * scenario.phases.length + at);
  const byPlace = new Map(fleet.members.map(({ place }, index) => [place, index]));
  const acting = startActing({
    plans: plansOf(scenario, round, at),
    timers,
    // Other processes of the run carry out the others.
    isMine: (plan, n) => byPlace.has(plan.placeOf(n)),
    act(plan, n, due) {
      onMade(timers.now() - due);
      return act(options, phase, plan, { n, due, index: byPlace.get(plan.placeOf(n))! });
    },
  });
  await phaseEnd({ ...phase, fleet, timers, stopped });
  // The next phase does not wait for calls in progress; it begins on time.
  const { left, answered } = acting.stop();
  onSkipped(left);
  ends.push(answered);
}

/** The n-th action of a plan, with the device at an index of the fleet. */
function act(
  { scenario, fleet, customer, onDecision }: PlayOptions,
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
  const { release } = action;
  const doing = action.do as ActionName;
  return customer?.act({ do: doing, number, ...(release && { release }) }, device.deviceId, phase.name, due);
}
