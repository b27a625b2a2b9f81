import { useSignal } from '@preact/signals';
import { a, type Child, div, dl, p, progress, use, type VNode } from '../base/elements.ts';
import { bytes, count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read, readPage } from '../base/requests.ts';
import type { Contents, Removal } from '../base/rows.ts';
import { loaded } from './loaded.ts';
import { age, badge, card, fact, id, idLink, said, skeleton } from './show.ts';

/** Milliseconds after which the progress of a removal is read again. */
const EVERY_MS = 1_000;

/** The kinds of objects that people know, with their number before, and how many of them are removed. */
const KINDS: [name: string, of: (all: Contents) => number, removed: (all: Removal['removed']) => number][] = [
  ['Applications', (all) => all.applications, (all) => all.applications],
  ['Devices', (all) => all.devices, (all) => all.devices],
  ['Transactions', ({ transactions: { unfinished, finished } }) => unfinished + finished, (all) => all.transactions],
  ['Webhook deliveries', ({ deliveries: { pending, ended } }) => pending + ended, (all) => all.deliveries],
  ['Rollouts', ({ rollouts: { unfinished, ended } }) => unfinished + ended, (all) => all.rollouts],
  ['Packages', (all) => all.packages, (all) => all.packages],
  ['Versions', (all) => all.versions, (all) => all.versions],
];

/** Software belongs to the developer, so it is not among what an application leaves. */
const OF_DEVELOPER = new Set(['Packages', 'Versions']);

/** What would be removed. */
export function contentsFacts(contents: Contents, isApplication: boolean): VNode {
  const notes: Record<string, string> = {
    Devices: `, ${count(contents.connected)} connected${isApplication ? '; they are deactivated and stay' : ''}`,
    Transactions: `, ${count(contents.transactions.unfinished)} unfinished`,
    'Webhook deliveries': `, ${count(contents.deliveries.pending)} pending`,
    Rollouts: `, ${count(contents.rollouts.unfinished)} unfinished`,
    Versions: `, ${bytes(contents.storedBytes)} of binaries`,
  };
  return dl(
    { class: 'facts' },
    KINDS.filter(([name]) => !isApplication || !OF_DEVELOPER.has(name)).map(([name, of]) =>
      fact(name, `${count(of(contents))}${notes[name] ?? ''}`),
    ),
    fact('Audit log', `${count(contents.auditEntries)} entries stay`),
  );
}

const nameOf = ({ applicationId, developerId }: Removal): string => applicationId ?? developerId ?? '';

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** The progress of a removal. */
function progressOf(removal: Removal): Child {
  const { contents, removed, state, step } = removal;
  const all = sumOf(KINDS.map(([, of]) => of(contents)));
  const done = sumOf(KINDS.map(([, , of]) => of(removed)));
  const isEnded = state === 'ended';
  return [
    div(
      { class: 'pad stack tight', key: 'progress' },
      p(
        { role: 'status' },
        isEnded ? badge('good', 'removed') : badge('warn', 'being removed'),
        ' ',
        isEnded
          ? 'Everything is removed. The entries of the audit log stay.'
          : 'All access has ended. The rest is removed in the background, also if this page is closed or the service is restarted. It cannot be stopped.',
      ),
      progress({
        max: Math.max(1, all),
        value: isEnded ? Math.max(1, all) : Math.min(done, all),
        'aria-label': 'Progress of the removal',
      }),
    ),
    dl(
      { class: 'facts', key: 'facts' },
      fact(removal.applicationId === null ? 'Developer' : 'Application', [
        id(nameOf(removal)),
        ' ',
        said(removal.name),
      ]),
      ...KINDS.filter(([name]) => removal.applicationId === null || !OF_DEVELOPER.has(name)).map(([name, of, gone]) =>
        fact(name, `${count(gone(removed))} of ${count(of(contents))}`),
      ),
      fact('Binaries', `${bytes(removed.storedBytes)} of ${bytes(contents.storedBytes)}`),
      fact('At work on', step === null ? (isEnded ? 'nothing more' : 'about to begin') : step),
      fact('Requested', age(removal.requestedAt)),
      fact('Last progress', age(removal.progressedAt)),
      fact('removalId', id(removal.removalId)),
    ),
  ];
}

function Progress({ removalId }: { removalId: string }) {
  const isEnded = useSignal(false);
  const removal = useLoad(removalId, (signal) => read<Removal>(operation('readRemoval', { removalId }), { signal }), {
    ...(!isEnded.value && { every: EVERY_MS }),
  });
  isEnded.value = removal.state.value.value?.state === 'ended';
  return card({ title: 'Removal', bare: true }, loaded(removal, progressOf));
}

/** A card that follows a removal. */
export const removalCard = (removalId: string): VNode => use(Progress, { removalId, key: removalId });

function Of({ applicationId, otherwise }: { applicationId: string; otherwise: Child }) {
  const found = useLoad(`removal of ${applicationId}`, (signal) =>
    readPage<Removal>(operation('listRemovals'), 'removals', { query: { applicationId, limit: 1 }, signal }),
  );
  const { value, error } = found.state.value;
  const [removal] = value?.rows ?? [];
  if (removal) return removalCard(removal.removalId);
  return value || error ? otherwise : skeleton(5);
}

/** A card that follows the removal of an application; `otherwise`, when there is none. */
export const removalOfApplication = (applicationId: string, otherwise: Child): VNode =>
  use(Of, { applicationId, otherwise, key: applicationId });

function Running() {
  const page = useLoad(
    'running removals',
    (signal) => readPage<Removal>(operation('listRemovals'), 'removals', { query: { state: 'running' }, signal }),
    { every: 5_000 },
  );
  const rows = page.state.value.value?.rows ?? [];
  if (rows.length === 0) return null;
  return div(
    { class: 'note warn stack tight' },
    rows.map((removal) =>
      p(
        { key: removal.removalId },
        removal.applicationId === null ? 'The developer ' : 'The application ',
        idLink(addressOf(['removals', removal.removalId]), nameOf(removal)),
        ' is being removed. ',
        a({ href: addressOf(['removals', removal.removalId]) }, 'Show the progress'),
      ),
    ),
  );
}

/** The removals that run, each with a link to its progress; nothing when there is none. */
export const runningRemovals = (): VNode => use(Running, {});
