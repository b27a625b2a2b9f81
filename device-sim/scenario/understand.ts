import { ACTIONS, COMMANDLESS, REVERTIBLE, ROLLOUT, SUPERSEDE_NONE, type Terms } from '../customer/action.ts';
import { SETTINGS, type Values } from '../customer/call-contents.ts';
import type { PlayedFault } from '../customer/receiver-fault.ts';
import type { FaultRule } from '../faults/fault.ts';
import { WHOLE_RUN } from '../report/record.ts';
import type { Fault, Path } from './check-shape.ts';
import { contradictionsIn } from './contradictions.ts';
import { type Expectation, readExpectation } from './expectation.ts';
import { badNetworkOf, countsOf, devicesOf } from './groups.ts';
import { pointlessIn } from './pointless.ts';
import { programFaultsOf, programsOf } from './programs.ts';
import { duration, durations, rate, share } from './quantities.ts';
import { requirementsOf } from './requirements.ts';
import { checkRevertAfter, type PlannedRollout, refuseRolloutMembers, releaseOf, rolloutOf } from './rollouts.ts';
import type { Phase, PlannedAction, Scenario } from './scenario.ts';
import type * as file from './scenario-file.ts';
import { suggestName } from './suggest-name.ts';
import { type Beside, NOWHERE, readValues, takesValues } from './value-files.ts';

/** The time before the phases, and the time after them. Reports and expectations treat these two like phases. */
export const START = 'start';
export const SETTLE = 'settle';
const TAKEN = [WHOLE_RUN, START, SETTLE];
const MEASURED: readonly string[] = [...Object.keys(ACTIONS), ...Object.keys(ROLLOUT)];
const NEED_RELEASE: readonly string[] = ['install', 'updateFirmware'];

const rateOrNone = (text: string): number | null => rate(text) || null;

/** Reports names that occur twice in a list, or that have another meaning in reports (`taken`). */
function nameFaults(named: readonly { name: string }[], list: string, taken: readonly string[]): Fault[] {
  return named.flatMap(({ name }, place) => {
    if (taken.includes(name))
      return [
        {
          path: [list, place, 'name'],
          text: `each report already has a part with the name "${name}"; choose another name`,
        },
      ];
    const first = named.findIndex((other) => other.name === name);
    return first < place ? [{ path: [list, place, 'name'], text: `"${name}" is already a name in this list` }] : [];
  });
}

const isRollout = (action: file.Action): boolean => action.do === 'rollout';

/** Actions that send a command to the device. */
const SEND_COMMANDS = Object.keys(ACTIONS).filter((name) => !COMMANDLESS.includes(name));

/** The terms of the command that an action sends. */
const termsOf = ({ expireIn, answerWithin, supersede, revertAfter }: file.Action): Terms => ({
  ...(expireIn !== undefined && { expireIn: duration(expireIn) / 1000 }),
  ...(answerWithin !== undefined && { answerWithin: duration(answerWithin) / 1000 }),
  ...(supersede && { supersede: 'true' }),
  ...(revertAfter !== undefined && { revertAfter: duration(revertAfter) / 1000 }),
});

const ruleOf = ({ fault, probability, operations, versions, code, delay }: file.Fault): FaultRule => ({
  fault,
  probability: share(probability),
  ...(operations && { operations }),
  ...(versions && { versions }),
  ...(code !== undefined && { code }),
  ...(delay !== undefined && { delay: durations(delay) }),
});

/** The members of a scenario that concern the whole fleet, with defaults for missing ones. */
const plain = (given: file.ScenarioFile) => ({
  name: given.name,
  about: given.about ?? '',
  seed: given.seed ?? 1,
  connectRate: rateOrNone(given.connectRate ?? '200/s'),
  activate: given.activate ?? true,
  activationPatience: duration(given.activationPatience ?? '30s'),
  lateAfter: duration(given.lateAfter ?? '60s'),
  settle: duration(given.settle ?? '30s'),
  rounds: given.rounds ?? 1,
});

/**
 * Makes the complete scenario from a file that obeys the schema. Returns the list of faults if names or numbers in it
 * do not fit together, or if parts of it can test nothing. `beside` has the files that it names.
 */
export function understand(given: file.ScenarioFile, beside: Beside = NOWHERE): Scenario | Fault[] {
  const groups = given.groups ?? [{ name: 'all' }];
  const programs = programsOf(given);
  const faults = [
    ...nameFaults(groups, 'groups', []),
    ...nameFaults(given.phases, 'phases', TAKEN),
    ...nameFaults(programs, programs.length > (given.endpoints ?? []).length ? 'consumers' : 'endpoints', []),
  ];
  const wrong = (path: Path, text: string): void => {
    faults.push({ path, text });
  };

  const counts = countsOf(given.devices, groups);
  if (typeof counts === 'string') wrong(['groups'], counts);

  const names = groups.map(({ name }) => name);
  const known = [...new Set([...names, ...groups.flatMap(({ tags = [] }) => tags)])];
  /** The names of the groups that a list selects by their names and tags; all groups without a list. */
  function groupsOf(wanted: readonly string[] | undefined, path: Path): readonly string[] {
    if (!wanted) return names;
    wanted.forEach((name, place) => {
      if (!known.includes(name))
        wrong([...path, place], `there is no group or tag "${name}"; ${suggestName(name, known)}`);
    });
    return groups
      .filter(({ name, tags = [] }) => [name, ...tags].some((one) => wanted.includes(one)))
      .map((g) => g.name);
  }

  function checkTerms(action: file.Action, path: Path): void {
    const terms = termsOf(action);
    for (const term of ['expireIn', 'answerWithin'] as const) {
      const seconds = terms[term];
      if (seconds !== undefined && !(Number.isInteger(seconds) && seconds >= 60 && seconds <= 2_592_000))
        wrong([...path, term], 'must be whole seconds, from 60s to 30d');
    }
    checkRevertAfter(action, path, wrong);
  }

  /** The rows of the file with the values of an action. */
  function valuesOf({ do: doing, values }: file.Action, path: Path): readonly Values[] | undefined {
    if (values === undefined) return undefined;
    const read = takesValues(doing)
      ? readValues(doing, values, beside)
      : `can be given only for ${Object.keys(SETTINGS).join(', ')}`;
    if (typeof read !== 'string') return read;
    wrong([...path, 'values'], read);
    return undefined;
  }

  function actionOf(action: file.Action, path: Path, phase: file.Phase): PlannedAction[] {
    if (isRollout(action)) return [];
    const { each, within, release, rateTo } = action;
    const terms = termsOf(action);
    const values = valuesOf(action, path);
    checkTerms(action, path);
    refuseRolloutMembers(action, path, wrong);
    if (terms.supersede && SUPERSEDE_NONE.includes(action.do))
      wrong([...path, 'supersede'], `cannot be given for ${action.do}`);
    if (terms.revertAfter !== undefined && !REVERTIBLE.includes(action.do))
      wrong([...path, 'revertAfter'], `can be given only for ${REVERTIBLE.join(' and ')}`);
    const [term] = Object.keys(terms);
    if (term !== undefined && !SEND_COMMANDS.includes(action.do))
      wrong([...path, term], `cannot be given for ${action.do}, which sends no command`);
    if ((action.rate === undefined) === (each === undefined)) wrong(path, 'needs either rate or each, and not both');
    if (rateTo !== undefined && (action.rate === undefined || phase.duration === undefined))
      wrong([...path, 'rateTo'], 'can be given only together with rate, in a phase with a duration');
    if (within !== undefined && each === undefined) wrong([...path, 'within'], 'can be given only together with each');
    if (each !== undefined && within === undefined && phase.duration === undefined)
      wrong([...path, 'within'], 'is needed, because the phase has no duration');
    if (NEED_RELEASE.includes(action.do) !== (release !== undefined))
      wrong([...path, 'release'], release ? `cannot be given for ${action.do}` : `is needed for ${action.do}`);
    return [
      {
        do: action.do,
        groups: groupsOf(action.groups, [...path, 'groups']),
        share: share(action.share ?? 1),
        pace:
          each === undefined
            ? { perSecond: rate(action.rate ?? '0/s'), ...(rateTo !== undefined && { toPerSecond: rate(rateTo) }) }
            : { each, within: within === undefined ? null : duration(within) },
        ...(release && { release: releaseOf(release) }),
        ...(term !== undefined && { terms }),
        ...(values && { values }),
      },
    ];
  }

  function plannedRollout(action: file.Action, path: Path): PlannedRollout[] {
    if (!isRollout(action)) return [];
    checkTerms(action, path);
    return [rolloutOf(action, path, wrong)];
  }

  function faultsOfReceiver(some: file.Phase['receiver'], path: Path): PlayedFault[] {
    const list = some === undefined || Array.isArray(some) ? (some ?? []) : [some];
    const played = list.map(({ fault, share: part = 1 }) => ({ fault, share: share(part) }));
    if (played.reduce((sum, one) => sum + one.share, 0) > 1 + 1e-9)
      wrong(path, 'the shares of the faults together are above 100 %');
    return played;
  }

  const phases = given.phases.map((phase, place): Phase => {
    const path = ['phases', place];
    const { connect, disconnect, receiver } = phase;
    if (
      phase.duration === undefined &&
      phase.untilIdle === undefined &&
      (place < given.phases.length - 1 || given.rounds)
    )
      wrong(path, 'needs a duration or untilIdle: without them it never ends, so no later phase or round would begin');
    return {
      name: phase.name,
      about: phase.about ?? '',
      duration: phase.duration === undefined ? null : duration(phase.duration),
      untilIdle: phase.untilIdle === undefined ? null : duration(phase.untilIdle),
      connect: connect
        ? {
            groups: groupsOf(connect.groups, [...path, 'connect', 'groups']),
            rate: connect.rate === undefined ? undefined : rateOrNone(connect.rate),
          }
        : null,
      disconnect: disconnect
        ? {
            groups: groupsOf(disconnect.groups, [...path, 'disconnect', 'groups']),
            share: share(disconnect.share ?? 1),
            cut: disconnect.how === 'cut',
          }
        : null,
      receiver: faultsOfReceiver(receiver, [...path, 'receiver']),
      programs: programFaultsOf(phase, programs, path, wrong),
      networks: new Map(
        (phase.network ?? []).flatMap(({ groups: some, ...bad }, at) =>
          groupsOf(some, [...path, 'network', at, 'groups']).map((name) => [name, badNetworkOf(bad)] as const),
        ),
      ),
      service: (phase.service ?? [])
        .map(({ fault, node = null, after = '0s', lasts = '1s' }) => ({
          fault,
          node,
          after: duration(after),
          lasts: duration(lasts),
        }))
        .toSorted((one, other) => one.after - other.after),
      actions: (phase.actions ?? []).flatMap((action, at) => actionOf(action, [...path, 'actions', at], phase)),
      rollouts: (phase.actions ?? []).flatMap((action, at) => plannedRollout(action, [...path, 'actions', at])),
    };
  });

  /** The fault rules of a group: its own, and the rules in phases that apply to the group. */
  const rulesOf = (group: file.Group): FaultRule[] => [
    ...(group.faults ?? []).map(ruleOf),
    ...given.phases.flatMap((phase, place) =>
      (phase.faults ?? [])
        .filter((fault, at) => groupsOf(fault.groups, ['phases', place, 'faults', at, 'groups']).includes(group.name))
        .map((fault) => ({ ...ruleOf(fault), phases: [phase.name] })),
    ),
  ];

  groups.forEach(({ network }, place) => {
    const away = typeof network === 'object' && network.away !== undefined ? share(network.away) : 0;
    if (away > 0.95) wrong(['groups', place, 'network', 'away'], 'must be at most 95 %');
  });

  const chapters = [START, ...phases.map(({ name }) => name), SETTLE];
  const expectations = (given.expectations ?? []).map((one, place): Expectation | null => {
    const { expect, phase = null } = typeof one === 'string' ? { expect: one } : one;
    const read = readExpectation(expect, phase);
    if (typeof read === 'string') wrong(['expectations', place], read);
    else {
      const { group = names[0] ?? '', action = 'activate' } = read.scope;
      if (!names.includes(group))
        wrong(['expectations', place], `there is no group "${group}"; ${suggestName(group, names)}`);
      if (!/^[1-9]\d*$/.test(read.scope.node ?? '1'))
        wrong(['expectations', place], `a node is a number from 1, not "${read.scope.node}"`);
      if (!MEASURED.includes(action))
        wrong(['expectations', place], `there is no action "${action}"; ${suggestName(action, MEASURED)}`);
    }
    if (phase !== null && !chapters.includes(phase))
      wrong(['expectations', place, 'phase'], `there is no phase "${phase}"; ${suggestName(phase, chapters)}`);
    return typeof read === 'string' ? null : read;
  });
  for (const { place, text } of contradictionsIn(expectations)) wrong(['expectations', place], text);

  faults.push(...pointlessIn(given, beside.exists));

  const understood = groups.map((group, place) => ({
    name: group.name,
    count: typeof counts === 'string' ? 0 : counts[place]!,
    ...devicesOf(group),
    faults: rulesOf(group),
  }));
  if (faults.length > 0) return uniqueFaults(faults);
  return {
    ...plain(given),
    groups: understood,
    phases,
    programs,
    expectations: expectations.filter((one) => one !== null),
    requirements: requirementsOf(given, { groups: understood, phases, start: START }),
  };
}

/**
 * Removes repeated faults: the rules of a phase are checked once for each group, so one fault is found several times.
 */
const uniqueFaults = (faults: readonly Fault[]): Fault[] => [
  ...new Map(faults.map((fault) => [JSON.stringify(fault), fault])).values(),
];
