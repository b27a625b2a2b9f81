import type { Verdict } from '../report/record.ts';
import type { DriveFigures } from './drive.ts';
import type { RuleName } from './rules.ts';
import type { ConnectedBy } from './service-end.ts';

/** A broken rule, with the messages before it. */
export interface Finding {
  readonly rule: RuleName;
  /** The rule as docs/devices.md says it, and its place there. */
  readonly text: string;
  readonly place: string;
  readonly expected: string;
  readonly came: string;
  /** The last messages in both directions, one in a line, with the seconds since the start of the test. */
  readonly story: readonly string[];
}

/** The outcome of one case. */
export interface CaseRecord {
  readonly name: string;
  readonly about: string;
  /**
   * `left out`: the case does not concern this device, or an option leaves it out. `not run`: it could not be played,
   * or the simulator itself stood still.
   */
  readonly outcome: 'holds' | 'broken' | 'left out' | 'not run';
  /** The outcome in words: the answer of the device, or the reason why the case was not played. */
  readonly shown: string;
  readonly findings: readonly Finding[];
}

/** The result of a test of a device; `--json` prints it. */
export interface DeviceTestRecord {
  readonly deviceId: string;
  /** As the device has reported them last; null if it never did. */
  readonly firmwareVersion: string | null;
  readonly managementClientVersion: string | null;
  /** How it was connected at its last login; null if the test does not know. */
  readonly connection: ConnectedBy | null;
  /** The figures of the drive; null without --hours. */
  readonly drive: Readonly<DriveFigures> | null;
  readonly seed: number;
  /** ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly milliseconds: number;
  readonly cases: readonly CaseRecord[];
  /** One for each case that was not left out. */
  readonly verdicts: readonly Verdict[];
  /** Why the test is NOT RUN; empty if it took place. */
  readonly notRun: readonly string[];
}

/** The connection in words; null if it is not known. */
export const shownConnection = ({ connection }: Pick<DeviceTestRecord, 'connection'>): string | null =>
  connection && `MQTT ${connection.version} (${connection.transport}), login by ${connection.loginBy}`;

const storyOf = ({ findings }: CaseRecord): string[] =>
  findings.flatMap(({ text, place, expected, came, story }) => [
    `${text} (${place})`,
    `expected: ${expected}`,
    `came:     ${came}`,
    ...story.map((line) => `  ${line}`),
  ]);

/** The verdict of a case; none if it was left out. */
export function verdictsOf(record: CaseRecord): Verdict[] {
  if (record.outcome === 'left out') return [];
  const { name, outcome, shown, findings } = record;
  const rules = [...new Set(findings.map(({ rule }) => rule))].join(', ');
  return [
    {
      text: name,
      phase: null,
      holds: outcome === 'holds',
      measurable: outcome !== 'not run',
      value: null,
      shown: outcome === 'broken' ? `broken: ${rules}` : shown,
      story: storyOf(record),
    },
  ];
}
