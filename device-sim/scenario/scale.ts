import type { BadNetwork } from '../fleet/bad-network.ts';
import type { Range } from '../random.ts';
import { countsOf } from './groups.ts';
import { scaleRollout } from './rollouts.ts';
import type { Group, Phase, PlannedAction, Scenario } from './scenario.ts';

/** Changes to the size and the speed of a scenario. */
export interface Scale {
  /**
   * The wanted number of devices. Each group keeps its share of them, and rates for all devices together change in
   * proportion.
   */
  readonly devices?: number | undefined;
  /** How many times faster time runs: durations become shorter, and rates higher. */
  readonly faster?: number | undefined;
}

/**
 * Milliseconds. A shorter absence would be over before anything happens, so faster time makes no absence shorter than
 * this.
 */
const SHORTEST_ABSENCE = 250;

const shorter = ({ min, max }: Range, faster: number): Range => ({ min: min / faster, max: max / faster });

const fasterNetwork = (network: BadNetwork, faster: number): BadNetwork => ({
  ...network,
  losses: network.losses * faster,
});

/** Raises the bounds of a range to `least`, but never above its bounds before (`before`). */
const atLeast = (least: number, { min, max }: Range, before: Range): Range => ({
  min: Math.max(min, Math.min(least, before.min)),
  max: Math.max(max, Math.min(least, before.max)),
});

function fasterGroup(group: Group, faster: number): Group {
  const { life, absence } = group;
  return {
    ...group,
    absence: { ...absence, window: atLeast(SHORTEST_ABSENCE, shorter(absence.window, faster), absence.window) },
    life: {
      ...life,
      statusInterval: life.statusInterval / faster,
      peerMoves: life.peerMoves * faster,
      alarms: life.alarms * faster,
      calls: life.calls * faster,
      callLength: shorter(life.callLength, faster),
      fileUploads: life.fileUploads * faster,
    },
    network: group.network && fasterNetwork(group.network, faster),
    faults: group.faults.map((rule) => (rule.delay ? { ...rule, delay: shorter(rule.delay, faster) } : rule)),
  };
}

function scaleAction({ pace, ...action }: PlannedAction, size: number, faster: number): PlannedAction {
  if ('perSecond' in pace) {
    const { perSecond, toPerSecond } = pace;
    const scaledRate = (one: number): number => one * size * faster;
    const to = toPerSecond === undefined ? {} : { toPerSecond: scaledRate(toPerSecond) };
    return { ...action, pace: { perSecond: scaledRate(perSecond), ...to } };
  }
  return { ...action, pace: { ...pace, within: pace.within === null ? null : pace.within / faster } };
}

/**
 * Returns the scenario with another number of devices and another speed. How long the customer waits, and `lateAfter`,
 * stay as they are, because the service does not become faster.
 */
export function scaled(scenario: Scenario, { devices, faster = 1 }: Scale): Scenario {
  const before = scenario.groups.reduce((sum, { count }) => sum + count, 0);
  const after = devices ?? before;
  const size = after / before;
  const counts = countsOf(
    after,
    scenario.groups.map(({ name, count }) => ({ name, share: count / before })),
  ) as number[];
  const phases = scenario.phases.map(
    (phase): Phase => ({
      ...phase,
      duration: phase.duration === null ? null : phase.duration / faster,
      untilIdle: phase.untilIdle,
      networks: new Map([...phase.networks].map(([group, network]) => [group, fasterNetwork(network, faster)])),
      service: phase.service.map((fault) => ({
        ...fault,
        after: fault.after / faster,
        lasts: fault.lasts / faster,
      })),
      programs: phase.programs.map((fault) => ({ ...fault, after: fault.after / faster })),
      actions: phase.actions.map((action) => scaleAction(action, size, faster)),
      rollouts: phase.rollouts.map((rollout) => scaleRollout(rollout, size, faster)),
    }),
  );
  const groups = scenario.groups.map((group, place) => ({ ...fasterGroup(group, faster), count: counts[place]! }));
  return { ...scenario, groups, phases };
}
