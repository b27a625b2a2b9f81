import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

export const DEPLOY = join(import.meta.dirname, '../../../deploy');

interface Rule {
  alert?: string;
  expr: string;
  for?: string;
}

const rulesFile = (): { groups: { rules: Rule[] }[] } =>
  parse(readFileSync(join(DEPLOY, 'prometheus/lapel.rules.yml'), 'utf8'));

/** The names of all alerts. */
export const alertNames = (): string[] =>
  rulesFile().groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert])));

/** Bounds in seconds or counts that no trial can wait for, each with the one that is used in its place. */
const BOUNDS: Readonly<Record<string, readonly [bound: string, used: string]>> = {
  LapelDevicesSilent: ['> 300', '> 5'],
  LapelWebhooksLate: ['> 120', '> 5'],
  LapelFilesNearBound: ['> 0.9 * process_max_fds', '> 0.35 * process_max_fds'],
  LapelRetentionStopped: ['> 6 * 3600', '> 90'],
  LapelRemovalStopped: ['> 1800', '> 5'],
  LapelAuditWaits: ['> 600', '> 5'],
};
/**
 * How long an alert waits before it fires, where a second is too short: some of these things are true for a while after
 * each start.
 */
const WAITS: Readonly<Record<string, string>> = { LapelDatabaseUnchecked: '7s' };
/** Restarts take longer than other faults. */
const WINDOWS: Readonly<Record<string, string>> = { LapelRestarts: '1m' };

/**
 * The rules as they are, except for their times: alerts fire after a second, what they look back at is 20 seconds, and a
 * few bounds are lower.
 */
export function shortenedRules(): string {
  const file = rulesFile();
  for (const rule of file.groups.flatMap(({ rules }) => rules)) {
    const name = rule.alert ?? '';
    if (rule.for !== undefined) rule.for = WAITS[name] ?? '1s';
    rule.expr = rule.expr
      .replaceAll(/\[\d+[mh]\]/g, `[${WINDOWS[name] ?? '20s'}]`)
      .replaceAll(/offset \d+[mh]/g, 'offset 20s');
    const [bound, used] = BOUNDS[name] ?? [];
    if (bound === undefined || used === undefined) continue;
    if (!rule.expr.includes(bound)) throw new Error(`${name} has no bound ${bound}`);
    rule.expr = rule.expr.replace(bound, used);
  }
  return stringify(file);
}
