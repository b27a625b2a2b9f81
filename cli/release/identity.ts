import { createHash } from 'node:crypto';
import type { Operations } from '@lapel/client/operations';
import type { Application } from '../account/access.ts';
import { take } from '../account/take.ts';
import { Failure } from '../show/failure.ts';
import { oneLine } from '../show/plain-text.ts';

type Row = Operations['listRollouts']['answer']['rollouts'][number];

/** Which release a job is about. Two jobs with the same one are the same release, whenever they run. */
export interface Identity {
  package: string;
  version: string;
  /** Tells several rollouts of a version apart, such as canary and fleet. */
  name: string;
  commit: string;
}

/** The forms of name and commit. Both fit into the label of a rollout, which has at most 100 characters. */
export const NAME = /^[0-9A-Za-z-]{1,24}$/;
export const COMMIT = /^[0-9A-Za-z._-]{1,64}$/;
const LABEL = /^([0-9A-Za-z-]{1,24}) of commit ([0-9A-Za-z._-]{1,64})$/;

/**
 * The label by which a later job finds the rollout. An Idempotency-Key alone would not do: it is forgotten after a day,
 * and a job can be started again after a week.
 */
export const labelOf = ({ name, commit }: Identity): string => `${name} of commit ${commit}`;

/** The commit of a rollout with this name; undefined for any other rollout. */
function commitOf({ label }: Row, wanted: string): string | undefined {
  const [, name, commit] = LABEL.exec(label ?? '') ?? [];
  return name === wanted ? commit : undefined;
}

/**
 * The key with which jobs that start at one moment make one rollout. The commit is not part of it: of two commits with one
 * version, only one may start. Cancelled rollouts are, so that a new commit can start after one.
 */
export const keyOf = ({ package: software, version, name }: Identity, cancelled: number): string =>
  `release-${createHash('sha256')
    .update(JSON.stringify([software, version, name, cancelled]))
    .digest('hex')}`;

export interface Search {
  /** The rollout of the release, and the commit that started it. */
  found: { rolloutId: string; commit: string } | undefined;
  /** How many rollouts of this version and name were cancelled. */
  cancelled: number;
}

/**
 * Looks for the rollout of a release: that of the same commit in any state, else one of another commit that was not
 * cancelled. Throws a Failure if somebody may have changed its label.
 */
export async function findRollout(application: Application, identity: Identity): Promise<Search> {
  const { package: software, version, name, commit } = identity;
  const rows = await application.call('list the rollouts', (lapel) =>
    take(lapel.each('listRollouts', { query: { operation: 'installSoftware' } })),
  );
  const ofVersion = rows.filter(({ subject }) => subject === `${software}@${version}`);
  const ours = ofVersion.flatMap((row) => {
    const of = commitOf(row, name);
    return of === undefined ? [] : [{ rolloutId: row.rolloutId, state: row.state, commit: of }];
  });
  const found = ours.find((row) => row.commit === commit) ?? ours.find(({ state }) => state !== 'cancelled');
  const cancelled = ours.filter(({ state }) => state === 'cancelled').length;
  if (!found) await refuseRelabelled(application, identity, ofVersion);
  return { found: found && { rolloutId: found.rolloutId, commit: found.commit }, cancelled };
}

/** A rollout whose label somebody changed may be that of this release. A second one would be worse than a question. */
async function refuseRelabelled(application: Application, { package: software, version }: Identity, rows: Row[]) {
  for (const { rolloutId, label } of rows.filter((row) => !LABEL.test(row.label ?? ''))) {
    const { history } = await application.call(`read rollout ${rolloutId}`, (lapel) =>
      lapel.readRollout({ rolloutId }),
    );
    // The history has a hundred entries at most, so the change may have fallen out of it.
    if (history.some(({ event }) => event === 'created') && history.every(({ event }) => event !== 'changed')) continue;
    throw new Failure(
      oneLine(
        `rollout ${rolloutId} of ${software} ${version} may be the one of this release: somebody changed it, and its label is ${label ?? 'empty'}`,
      ),
      { advice: [`follow it: lapel rollout watch ${rolloutId}`, 'to roll the version out again: lapel rollout start'] },
    );
  }
}
