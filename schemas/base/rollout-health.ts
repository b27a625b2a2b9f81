import type { RolloutGroupHealth, RolloutHealthFinding, RolloutHealthRule } from '../contracts/types.ts';

type Measure = RolloutHealthRule['measure'];

/** The name of each measure for people, and its unit. */
const MEASURES: Readonly<Record<Measure, readonly [name: string, unit: string]>> = {
  silent: ['silent devices', ' %'],
  reconnects: ['reconnects', ' an hour'],
  events: ['events', ' an hour'],
  failedCommands: ['failed commands', ' an hour'],
  batteryDrop: ['battery loss', ' % an hour'],
  storageFree: ['storage loss', ' MiB an hour'],
};

/** The name of each measure for people. */
export const MEASURE_NAMES = Object.fromEntries(
  Object.entries(MEASURES).map(([measure, [name]]) => [measure, name]),
) as Readonly<Record<Measure, string>>;

const TWO_PLACES = 100;
/** A value of a measure with its unit. */
export const valueText = (measure: Measure, value: number | null): string =>
  value === null ? 'not known' : `${Math.round(value * TWO_PLACES) / TWO_PLACES}${MEASURES[measure][1]}`;

const counted = (devices: number): string => `${devices} ${devices === 1 ? 'device' : 'devices'}`;

/** The name of a rule: that of its measure, with the types of its events. */
export const ruleNameText = ({ measure, types }: Pick<RolloutHealthRule, 'measure' | 'types'>): string =>
  `${MEASURES[measure][0]}${types ? ` (${types.join(', ')})` : ''}`;

/** A rule in words: `silent devices at most 10 %, from 20 devices on`. */
export function healthRuleText(rule: RolloutHealthRule): string {
  const { measure, atMost, timesControl, minimumDevices } = rule;
  const limit =
    atMost === undefined
      ? `at most ${timesControl} times those of waiting devices`
      : `at most ${valueText(measure, atMost)}`;
  return `${ruleNameText(rule)} ${limit}, from ${counted(minimumDevices)} on`;
}

/** The finding of a rule in words: `silent devices: 25 % of 4 devices with the release, 0 % of 2 that wait`. */
export function findingText({ rule, treated, control, probability }: NonNullable<RolloutHealthFinding>): string {
  const { measure } = rule;
  const group = ({ devices, value }: typeof treated): string => `${valueText(measure, value)} of ${counted(devices)}`;
  const others = control.devices === 0 ? '' : `, ${group(control)} that wait`;
  const chance = probability === null ? '' : `; by chance alone with a probability of ${probability.toPrecision(1)}`;
  return `${ruleNameText(rule)}: ${group(treated)} with the release${others}${chance}`;
}

/** A line of the figures of a stage: a measure, and its value with the release and without it. */
export type HealthLine = readonly [name: string, treated: string, control: string];

/** The figures of a stage beside those of the devices that wait. What is known of neither is left out. */
export function healthLines(treated: RolloutGroupHealth, control: RolloutGroupHealth): HealthLine[] {
  const lines: HealthLine[] = [
    ['devices', String(treated.devices), String(control.devices)],
    ['seen since', String(treated.seen), String(control.seen)],
  ];
  for (const measure of Object.keys(MEASURES) as Measure[]) {
    if (treated[measure] === null && control[measure] === null) continue;
    lines.push([
      MEASURES[measure][0],
      valueText(measure, treated[measure] as number | null),
      valueText(measure, control[measure] as number | null),
    ]);
  }
  if (treated.versionKept !== null) lines.push(['report the version', `${treated.versionKept} %`, '']);
  return lines;
}
