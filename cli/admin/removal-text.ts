import type { AdminOperations } from '@lapel/client/admin-operations';
import { oneLine } from '../show/plain-text.ts';
import { bar, byteSize, count } from '../show/progress.ts';
import { padEnd } from '../show/text-width.ts';

export type Removal = AdminOperations['readRemoval']['answer'];
export type Contents = AdminOperations['readDeveloperContents']['answer'];

/** The kinds of rows, as people read them, with their number among the contents. */
const KINDS: [name: string, of: (contents: Contents) => number, removed: (removal: Removal) => number][] = [
  ['applications', (all) => all.applications, ({ removed }) => removed.applications],
  ['devices', (all) => all.devices, ({ removed }) => removed.devices],
  [
    'transactions',
    ({ transactions }) => transactions.unfinished + transactions.finished,
    ({ removed }) => removed.transactions,
  ],
  [
    'webhook deliveries',
    ({ deliveries }) => deliveries.pending + deliveries.ended,
    ({ removed }) => removed.deliveries,
  ],
  ['rollouts', ({ rollouts }) => rollouts.unfinished + rollouts.ended, ({ removed }) => removed.rollouts],
  ['packages', (all) => all.packages, ({ removed }) => removed.packages],
  ['versions', (all) => all.versions, ({ removed }) => removed.versions],
];
const WIDTH = 20;

const row = (name: string, text: string): string => `  ${padEnd(name, WIDTH)}${text}\n`;

/** What would be removed, for the person who decides. */
export function contentsText(contents: Contents, isApplication: boolean): string {
  const { connected, transactions, deliveries, rollouts, storedBytes, auditEntries } = contents;
  const notes: Record<string, string> = {
    devices: `, ${count(connected)} connected${isApplication ? '; they are deactivated and stay' : ''}`,
    transactions: `, ${count(transactions.unfinished)} unfinished`,
    'webhook deliveries': `, ${count(deliveries.pending)} pending`,
    rollouts: `, ${count(rollouts.unfinished)} unfinished`,
    versions: `, ${byteSize(storedBytes)} of binaries`,
  };
  const software = new Set(['packages', 'versions']);
  return [
    ...KINDS.filter(([name]) => !isApplication || !software.has(name)).map(([name, of]) =>
      row(name, `${count(of(contents))}${notes[name] ?? ''}`),
    ),
    row('audit log', `${count(auditEntries)} entries stay`),
  ].join('');
}

/** How much of what there was at the request is removed, in percent. New rows can come, so it is at most 99 before the end. */
export function percentOf(removal: Removal): number {
  if (removal.state === 'ended') return 100;
  const all = KINDS.reduce((sum, [, of]) => sum + of(removal.contents), 0);
  const removed = KINDS.reduce((sum, [, , done]) => sum + done(removal), 0);
  return all === 0 ? 0 : Math.min(99, Math.floor((100 * removed) / all));
}

export const whoOf = ({ developerId, applicationId, name }: Removal): string =>
  oneLine(applicationId === null ? `developer ${developerId} (${name})` : `application ${applicationId} (${name})`);

/** The progress in one line. */
export const progressLine = (removal: Removal): string =>
  `removing  ${bar(percentOf(removal))}  ${removal.step ?? 'about to begin'}`;

/** A removal with its numbers. */
export const removalText = (removal: Removal): string =>
  [
    `${whoOf(removal)}: ${removal.state === 'ended' ? 'removed' : `being removed, ${percentOf(removal)} %`}\n`,
    ...KINDS.map(([name, of, removed]) => row(name, `${count(removed(removal))} of ${count(of(removal.contents))}`)),
    row('binaries', `${byteSize(removal.removed.storedBytes)} of ${byteSize(removal.contents.storedBytes)}`),
    row('requested', removal.requestedAt),
    ...(removal.endedAt === null ? [] : [row('ended', removal.endedAt)]),
  ].join('');
