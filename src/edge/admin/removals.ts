import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Removals } from '../../core/removals/removals.ts';
import { toUtc } from '../../runtime/clock.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'developers' | 'countContents' | 'applications' | 'removals'>;

type Found = Awaited<ReturnType<Removals['find']>>;

const NOTHING: SchemaTypes['admin/removal']['removed'] = {
  connections: 0,
  devices: 0,
  rollouts: 0,
  transactions: 0,
  deliveries: 0,
  idempotencyKeys: 0,
  versions: 0,
  storedBytes: 0,
  packages: 0,
  applications: 0,
};

function removalBody(removal: Found): SchemaTypes['admin/removal'] {
  const { removalId, developerId, applicationId, name, contents, step, removed } = removal;
  return {
    removalId,
    developerId: developerId || null,
    applicationId,
    name,
    state: removal.endedAt === null ? 'running' : 'ended',
    step,
    contents: contents as SchemaTypes['admin/contents'],
    removed: { ...NOTHING, ...removed },
    requestedAt: toUtc(removal.requestedAt),
    progressedAt: toUtc(removal.progressedAt),
    endedAt: removal.endedAt === null ? null : toUtc(removal.endedAt),
  };
}

/** Counts what belongs to a developer. */
export async function readDeveloperContents(
  { developers, countContents }: Services,
  { params }: At<'developerId'>,
): Promise<Answer> {
  const { developerId } = await developers.find(params.developerId);
  return { status: 200, body: await countContents({ developerId, applicationId: null }) };
}

/** Counts what belongs to an application. */
export async function readApplicationContents(
  { applications, countContents }: Services,
  { params }: At<'applicationId'>,
): Promise<Answer> {
  const { developerId, applicationId } = await applications.findCounted(params.applicationId);
  return { status: 200, body: await countContents({ developerId, applicationId }) };
}

/** Removes a developer with everything. */
export async function removeDeveloper(
  { removals, countContents }: Services,
  { params, body, changed, baseUrl }: At<'developerId', 'admin/removal-request'>,
): Promise<Answer> {
  const { developerId } = params;
  const contents = await countContents({ developerId, applicationId: null });
  const removal = await removals.request({ developerId }, body.confirmation, contents);
  await changed({ removalId: removal.removalId, contents: removal.contents });
  return accepted(removal, baseUrl);
}

/** Removes an application with everything. */
export async function removeApplication(
  { removals, countContents }: Services,
  { params, body, changed, baseUrl }: At<'applicationId', 'admin/removal-request'>,
): Promise<Answer> {
  const { applicationId } = params;
  const contents = await countContents({ developerId: '', applicationId });
  const removal = await removals.request({ applicationId }, body.confirmation, contents);
  await changed({ removalId: removal.removalId, contents: removal.contents });
  return accepted(removal, baseUrl);
}

const accepted = (removal: Found, baseUrl: string): Answer => ({
  status: 202,
  headers: { Location: `${baseUrl}/admin/v1/removals/${removal.removalId}` },
  body: removalBody(removal),
});

/** Lists removals, the newest first. */
export async function listRemovals(
  { removals }: Services,
  input: At<never, never, 'admin/removal-query'>,
): Promise<Answer> {
  const { after, limit, ...filter } = input.query;
  const { rows, next } = await removals.list(filter, { after, limit });
  const headers = next === undefined ? {} : nextPageAfter(input, { ...filter, limit }, { after: next });
  return { status: 200, headers, body: { removals: rows.map(removalBody) } };
}

/** Reads a removal with its progress. */
export async function readRemoval({ removals }: Services, { params }: At<'removalId'>): Promise<Answer> {
  return { status: 200, body: removalBody(await removals.find(params.removalId)) };
}
