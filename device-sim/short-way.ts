import type { Options } from './options.ts';
import type { Range } from './random.ts';
import { durationText } from './scenario/quantities.ts';
import type * as file from './scenario/scenario-file.ts';
import { UsageError } from './usage-error.ts';

const PER_HOUR = { min: 0, max: 3_600_000 };

/** The expectations of every run without a scenario. */
const PROMISES = ['lost == 0', 'doubled == 0', 'late == 0', 'unordered == 0', 'forged == 0', 'errors == 0'];

const span = ({ min, max }: Range): string =>
  min === max ? durationText(min) : `${durationText(min)}-${durationText(max)}`;

function groupOf(options: Options): file.Group {
  const away = options.number('offline-rate', 0, { min: 0, max: 0.95 });
  return {
    name: 'all',
    ...(away > 0 && { network: { away, window: '5s-30s' } }),
    behaviour: { latency: span(options.range('latency', '0')) },
    life: {
      peerMoves: '6/h',
      alarms: '1/h',
      calls: `${options.number('calls', 0, PER_HOUR)}/h`,
    },
  };
}

/**
 * Makes a scenario from options of the command line: a fleet that answers commands. With an application or a load it
 * also has a customer.
 */
export function shortWay(options: Options, devices: number): file.ScenarioFile {
  if (options.has('duration') && options.has('until-idle')) {
    throw new UsageError('--until-idle', 'makes no sense with --duration');
  }
  const seconds = (name: 'duration' | 'until-idle'): string =>
    durationText(1000 * options.number(name, 0, { min: 0.1, max: 31_536_000 }));
  const load = options.number('load', 0, { min: 0, max: 100_000 });
  const activate = load > 0 || options.has('application');
  return {
    name: 'short',
    about: 'A fleet as the options of the command line say.',
    devices,
    activate,
    connectRate: `${options.number('connect-rate', 200, { min: 0, max: 1_000_000 })}/s`,
    groups: [groupOf(options)],
    phases: [
      {
        name: 'work',
        ...(options.has('duration') && { duration: seconds('duration') }),
        ...(options.has('until-idle') && { untilIdle: seconds('until-idle') }),
        ...(load > 0 && { actions: [{ do: 'setWifi', rate: `${load}/s` }] }),
      },
    ],
    expectations: [...(activate ? PROMISES : []), 'violations == 0', 'connectFailures == 0'],
  };
}
