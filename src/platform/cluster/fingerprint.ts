import { createHash } from 'node:crypto';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import type { Config } from '../../config.ts';

/**
 * A digest by which nodes compare a secret without showing it. A token of 32 random characters cannot be guessed from
 * it.
 */
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex').slice(0, 16);

const NUMBERS: readonly Setting['kind'][] = ['number', 'count', 'port'];

/** The value of a setting in the form in which nodes of all releases compare it: `200` and `0200` are the same number. */
function comparable({ kind, secret }: Setting, value: string | null, config: Config): string | number | boolean | null {
  if (secret) return digest(value ?? '');
  if (kind === 'timeZone') return config.timeZone;
  if (value === null) return null;
  if (kind === 'flag') return value === 'true';
  if (NUMBERS.includes(kind)) return Number(value);
  let text = value;
  while (text.endsWith('/')) text = text.slice(0, -1);
  return text;
}

/** The release of this node and the settings that must be equal on all nodes, in the form that nodes compare. */
export function fingerprintOf(config: Config, release: string): string {
  const values = new Map(config.given.map(({ name, value }) => [name as string, value]));
  const shared = (SETTINGS as readonly Setting[]).filter((setting) => setting.shared);
  const shown = shared.map((setting) => [setting.name, comparable(setting, values.get(setting.name) ?? null, config)]);
  return JSON.stringify({ release, ...Object.fromEntries(shown) });
}

/**
 * The names of the settings that differ in two fingerprints. A newer release may have settings that are missing here; they
 * are ignored.
 */
export function differingSettings(own: string, other: string): string[] {
  const [mine, theirs] = [own, other].map((text) => JSON.parse(text) as Record<string, unknown>) as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  return Object.keys(mine).filter((name) => name in theirs && mine[name] !== theirs[name]);
}

/** The settings that every node needs before a second node may join, and that this node lacks. */
export const lackingSettings = (config: Config): string[] =>
  [
    ['LAPEL_ADMIN_TOKEN', config.admin.token] as const, // without the setting each node would make a token of its own
    ['LAPEL_PUBLIC_URL', config.publicUrl] as const, // the issuer of tokens, which all nodes must accept
    ['LAPEL_S3_ENDPOINT', config.objects.endpoint] as const, // the embedded store has its files on a single machine
  ].flatMap(([name, value]) => (value === null ? [name] : []));

/** The settings that a node lacks, separated by spaces. */
interface Lacking {
  lacking: string;
}

/**
 * Throws SETTING_INVALID when this node, or one of the others, lacks a setting that it needs before they may run at one
 * database.
 */
export function requirePermitted(own: Lacking, others: readonly (Lacking & { nodeId: string })[]): void {
  const alone = others.find(({ lacking }) => lacking !== '');
  const [needed] = own.lacking.split(' ');
  if (others.length > 0 && needed) {
    const problem = 'is needed, because another node runs on this database';
    throw new DomainError('SETTING_INVALID', { values: { setting: needed, problem } });
  }
  if (!alone) return;
  const problem = `node ${alone.nodeId} runs on this database without ${alone.lacking.replaceAll(' ', ', ')}; it needs these settings before another node may join`;
  throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATABASE_URL', problem } });
}
