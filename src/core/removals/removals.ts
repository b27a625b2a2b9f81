import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { pageOf } from '../../runtime/page.ts';
import type { Applications } from '../applications/applications.ts';
import { type Cleared, type Clearing, leavingApplications } from '../applications/clearing.ts';
import type { Developers } from '../applications/developers.ts';
import type { Audit } from '../audit/audit.ts';
import * as repository from './removal-repository.ts';
import { createWorker } from './worker.ts';

type Removal = repository.Removal;

/** A developer, or an application. */
export type LeaverId = { developerId: string } | { applicationId: string };

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  leads(): boolean;
  developers: Pick<Developers, 'leaveIn' | 'clearIn'>;
  applications: Pick<Applications, 'leaveIn' | 'clearIn'>;
  clearings: readonly Clearing[];
  audit: Pick<Audit, 'noteIn'>;
  /** The factor by which a pause is longer than the step before it. */
  pauseFactor?: number;
}

export type Removals = ReturnType<typeof createRemovals>;

/**
 * Removes a developer, or one application, with everything that belongs to it. The commit that accepts a removal ends all
 * access at once; the rows are then removed in the background, those of the customer itself last. A removal that was
 * accepted cannot be stopped.
 */
export function createRemovals({
  database,
  clock,
  ids,
  log,
  metrics,
  leads,
  developers,
  applications,
  ...parts
}: Parts) {
  const { audit, pauseFactor } = parts;
  /** The row of each application is removed when nothing refers to it any more. */
  const applicationRows: Clearing<string> = {
    kind: 'applications',
    async *find(sql, leaver) {
      for await (const applicationId of leavingApplications(sql, leaver)) yield [applicationId];
    },
    remove: async (unit, applicationId) => ({ applications: await applications.clearIn(unit, applicationId) }),
    alone: () => undefined,
  };
  const clearings = [...parts.clearings, applicationRows] as readonly Clearing[];

  /** Ends a removal, and writes into the audit log what was removed. */
  async function endIn(unit: UnitOfWork, { removalId, developerId, applicationId }: Removal): Promise<void> {
    if (applicationId === null) await developers.clearIn(unit, developerId);
    const ended = await repository.saveEnd(unit, removalId, clock.now());
    if (!ended) return;
    const removed = await repository.findCleared(unit, removalId);
    const resource =
      applicationId === null ? `/admin/v1/developers/${developerId}` : `/admin/v1/applications/${applicationId}`;
    await audit.noteIn(unit, {
      action: applicationId === null ? 'REMOVE /developers/{developerId}' : 'REMOVE /applications/{applicationId}',
      resource,
      id: removalId,
      details: { removed },
      about: [
        ...(developerId === '' ? [] : [{ kind: 'developer', id: developerId } as const]),
        ...(applicationId === null ? [] : [{ kind: 'application', id: applicationId } as const]),
      ],
    });
  }

  const worker = createWorker({
    database,
    clock,
    log,
    metrics,
    leads,
    clearings,
    endIn,
    ...(pauseFactor !== undefined && { pauseFactor }),
  });

  /** The removal that has been accepted for a customer who still exists, or the last one of a customer who is gone. */
  async function findKnown(unit: UnitOfWork, id: LeaverId, removalId: string | null): Promise<Removal> {
    const known = removalId === null ? undefined : await repository.findRemoval(unit, removalId);
    const removal = known ?? (await repository.findLatest(unit, id));
    if (removal) return removal;
    throw new DomainError('developerId' in id ? 'DEVELOPER_NOT_FOUND' : 'APPLICATION_NOT_FOUND');
  }

  function requireConfirmed(confirmation: string, id: string, name: string): void {
    if (confirmation === id || confirmation === name) return;
    const msg = `Input should be '${id}', or the name, to confirm the removal`;
    throw DomainError.invalid({ loc: ['body', 'confirmation'], msg, type: 'enum' });
  }

  async function requestDeveloper(unit: UnitOfWork, developerId: string, confirmation: string, contents: object) {
    const removalId = ids.next('rem', clock.now());
    const developer = await developers.leaveIn(unit, developerId, removalId);
    if (developer?.removalId !== removalId) {
      const known = await findKnown(unit, { developerId }, developer?.removalId ?? null);
      requireConfirmed(confirmation, developerId, known.name);
      return known;
    }
    requireConfirmed(confirmation, developerId, developer.name);
    for await (const applicationId of leavingApplications(unit, { developerId, applicationId: null }))
      await applications.leaveIn(unit, applicationId, removalId);
    return store(unit, { removalId, developerId, applicationId: null, name: developer.name, contents });
  }

  async function requestApplication(unit: UnitOfWork, applicationId: string, confirmation: string, contents: object) {
    const removalId = ids.next('rem', clock.now());
    const application = await applications.leaveIn(unit, applicationId, removalId);
    if (application?.removalId !== removalId) {
      const known = await findKnown(unit, { applicationId }, application?.removalId ?? null);
      requireConfirmed(confirmation, applicationId, application?.name ?? known.name);
      return known;
    }
    const { developerId, name } = application;
    requireConfirmed(confirmation, applicationId, name);
    return store(unit, { removalId, developerId, applicationId, name, contents });
  }

  async function store(
    unit: UnitOfWork,
    wanted: Pick<Removal, 'removalId' | 'developerId' | 'applicationId' | 'name' | 'contents'>,
  ): Promise<Removal> {
    const now = clock.now();
    const removal = { ...wanted, step: null, requestedAt: now, progressedAt: now, endedAt: null };
    await repository.insertRemoval(unit, removal);
    unit.onCommit(worker.wake);
    return removal;
  }

  const withCounts = async (removal: Removal): Promise<Removal & { removed: Cleared }> => ({
    ...removal,
    removed: await repository.findCleared(database.read, removal.removalId),
  });

  return {
    /**
     * Accepts the removal of a developer or an application. From this commit on its tokens are invalid, its rollouts are
     * cancelled, its devices cannot log in, and no webhook is sent. `confirmation` is its id or its name. A removal that was
     * accepted before is returned again. `contents` is kept with it. Throws DEVELOPER_NOT_FOUND, APPLICATION_NOT_FOUND,
     * REQUEST_INVALID.
     */
    async request(id: LeaverId, confirmation: string, contents: object): Promise<Removal & { removed: Cleared }> {
      const removal = await database.transact((unit) =>
        'developerId' in id
          ? requestDeveloper(unit, id.developerId, confirmation, contents)
          : requestApplication(unit, id.applicationId, confirmation, contents),
      );
      return withCounts(removal);
    },

    /** Throws REMOVAL_NOT_FOUND. */
    async find(removalId: string): Promise<Removal & { removed: Cleared }> {
      const removal = await repository.findRemoval(database.read, removalId);
      if (!removal) throw new DomainError('REMOVAL_NOT_FOUND');
      return withCounts(removal);
    },

    /** A page of removals, the newest first. `next` is the `after` of the next page. */
    async list(filter: repository.RemovalFilter, { after, limit }: { after?: string | undefined; limit: number }) {
      const rows = await repository.listRemovals(database.read, filter, { after, limit: limit + 1 });
      const { next, ...page } = pageOf(rows, limit, (row) => row.removalId);
      return { rows: await Promise.all(page.rows.map(withCounts)), next };
    },

    start: worker.start,
    idle: worker.idle,
    [Symbol.asyncDispose]: worker.stop,
  };
}
